"""What the hypotheses of a search share: the cells of their stacks, their branches, and the means of these.

Everything a hypothesis knows of its past is a number in an arena. Cells of the stack and branches (positions with the
step taken there) are never changed, so that all hypotheses share them. Vectors live in slots, which are given back when
no hypothesis of the beam can reach them any more.
"""

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from spacy_lpcfg.isbn.search._networks cimport Networks
from spacy_lpcfg.isbn.search._types cimport (
    CONTEXT,
    INTRODUCED,
    LEAF,
    LEFT_CHILD,
    LEFT_TERMINAL,
    N_FIELDS,
    NONE,
    PROJECT,
    RIGHT_CHILD,
    ROOT,
    Branch,
    Cell,
    Hypothesis,
    State,
)


cdef class History:
    """The arenas of one search."""

    def __init__(self, Networks networks):
        self.networks, self.model = networks, &networks.model
        self.stride = <size_t>self.model.width * (1 + self.model.n_products)

    cdef Hypothesis start(self) noexcept nogil:
        """Begin a sentence, in the memory of the one before: the hypothesis before its first word."""
        cdef Cell root
        cdef Hypothesis start
        cdef int f
        self.cells.clear()
        self.branches.clear()
        self.seen.clear()
        self.now = 0
        root.label, root.below = ROOT, NONE
        for f in range(N_FIELDS):
            root.fields[f] = NONE
        start.log_probability, start.branch, start.last_shift = 0, NONE, NONE
        start.cell = self.new_cell(root)
        return start

    cdef void copy_to(self, History new, const vector[Hypothesis]& beam):
        """Give another history this past, with those slots that a beam may still read."""
        cdef vector[int32_t] number
        cdef int slot
        cdef size_t b
        new.cells, new.branches, new.seen, new.now = self.cells, self.branches, self.seen, self.now
        self.find_live_slots(beam)
        number.assign(self.in_slot.size(), NONE)
        for slot in range(<int>self.in_slot.size()):
            if self.is_live[slot]:
                number[slot] = new.new_slot()
                memcpy(new.means(number[slot]), self.means(slot), self.stride * sizeof(float))
                new.in_slot[number[slot]] = self.in_slot[slot]
        for b in range(new.branches.size()):
            if new.branches[b].slot != NONE:
                new.branches[b].slot = number[new.branches[b].slot]

    cdef int32_t new_branch(self, int32_t previous, int32_t action, int32_t candidate, int32_t slot) noexcept nogil:
        cdef Branch branch
        branch.previous, branch.action, branch.candidate, branch.slot = previous, action, candidate, slot
        self.branches.push_back(branch)
        return <int32_t>self.branches.size() - 1

    # The stack

    cdef int32_t new_cell(self, const Cell& cell) noexcept nogil:
        self.cells.push_back(cell)
        self.seen.push_back(0)
        return <int32_t>self.cells.size() - 1

    cdef int32_t stack_word(self, int32_t top, int32_t branch) noexcept nogil:
        """The top of the stack after Shift."""
        cdef Cell cell = self.cells[top]
        cdef int f
        cell.fields[CONTEXT] = branch
        cell.below = self.new_cell(cell)
        cell.label = LEAF
        for f in range(N_FIELDS):
            cell.fields[f] = NONE
        cell.fields[INTRODUCED] = cell.fields[LEFT_TERMINAL] = branch
        return self.new_cell(cell)

    cdef int32_t apply(self, int32_t top, int action, int32_t branch) noexcept nogil:
        """The top of the stack after Attach, Modify or Project."""
        cdef Cell cell = self.cells[top]
        if action < PROJECT:
            cell = self.cells[cell.below]
            if cell.fields[LEFT_CHILD] == NONE:
                cell.fields[LEFT_CHILD] = branch
        else:
            cell.label = action - PROJECT
            cell.fields[CONTEXT] = NONE
            cell.fields[LEFT_CHILD] = branch
            cell.fields[INTRODUCED] = branch
        cell.fields[RIGHT_CHILD] = branch
        return self.new_cell(cell)

    cdef int32_t resolve(self, const State& state, int depth, int field) noexcept nogil:
        """The branch that a relation leads to."""
        cdef int32_t cell = state.cell
        if depth < 0:
            return state.branch if field == 0 else state.last_shift
        while depth > 0 and cell != NONE:
            cell = self.cells[cell].below
            depth -= 1
        return NONE if cell == NONE else self.cells[cell].fields[field]

    # Slots

    cdef int32_t new_slot(self) noexcept nogil:
        cdef int32_t slot
        if self.free_slots.empty():
            slot = <int32_t>self.in_slot.size()
            self.in_slot.push_back(0)
            self.slots.resize(self.slots.size() + self.stride)
        else:
            slot = self.free_slots.back()
            self.free_slots.pop_back()
            self.in_slot[slot] = 0
        return slot

    cdef void give_back_slots(self, const vector[Hypothesis]& beam) noexcept nogil:
        cdef int slot
        self.find_live_slots(beam)
        self.free_slots.clear()
        for slot in range(<int>self.in_slot.size() - 1, -1, -1):
            if not self.is_live[slot]:
                self.free_slots.push_back(slot)

    cdef void find_live_slots(self, const vector[Hypothesis]& beam) noexcept nogil:
        """Those that a beam may still read."""
        cdef size_t i
        cdef int32_t cell
        cdef int f
        self.is_live.assign(self.in_slot.size(), 0)
        self.now += 1
        for i in range(beam.size()):
            self.find_live(beam[i].branch)
            self.find_live(beam[i].last_shift)
            cell = beam[i].cell
            while cell != NONE and self.seen[cell] != self.now:
                self.seen[cell] = self.now
                for f in range(self.model.n_fields):
                    self.find_live(self.cells[cell].fields[self.model.fields[f]])
                cell = self.cells[cell].below

    cdef void find_live(self, int32_t branch) noexcept nogil:
        if branch != NONE and self.branches[branch].slot != NONE:
            self.is_live[self.branches[branch].slot] = 1
