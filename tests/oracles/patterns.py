"""Random patterns of trees, as texts."""

from random import Random

SIMPLE = [
    "<", ">", "<<", ">>", "<:", ">:", "<<:", ">>:", "<<,", ">>,", "<<-", ">>-", "<<`", ">>`", "<,", ">,", "<-", ">-",
    "<`", ">`", "<#", ">#", "<<#", ">>#", "$", "$+", "$-", "$++", "$--", "$.", "$,", "$..", "$,,", ".", "..", ",", ",,",
    "<<<", "==", "<=", ":", "<1", "<2", "<-2", ">1", ">2", ">-2", "<<<1", "<<<2", "<<<-1", "<<<-2",
]  # fmt: skip
CHAINS = ["<+", ">+", ".+", ",+"]
LABELS = ["A", "B", "A|B", "/^A/", "/b|c/", "__", "@A", "!A", "!@B", "@/[AB]/", "c", "!/A/", "_ROOT_", "!_ROOT_"]


class RandomPatterns:
    """Texts of patterns over the labels of `LABELS`, each with the names that it has so far."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names: list[str] = []
        self.n_names = 0

    def pattern(self) -> str:
        first = self.node(depth=2, may_name=True)
        self.names = []
        return first if self.random.random() < 0.9 else f"{first} | {self.node(depth=1, may_name=True)}"

    def node(self, depth: int, *, may_name: bool) -> str:
        described = self.description(may_name=may_name)
        if depth == 0 or self.random.random() < 0.2:
            return described
        parts = [self.part(depth, may_name=may_name) for _ in range(self.random.choice([1, 1, 2]))]
        return f"{described} {self.random.choice([' ', ' & ']).join(parts)}"

    def description(self, *, may_name: bool) -> str:
        kind = self.random.random()
        if self.names and kind < 0.15:
            return self.random.choice(["", "!"]) + f"={self.random.choice(self.names)}"
        if self.names and kind < 0.25:
            return self.random.choice(["", "@", "!"]) + f"~{self.random.choice(self.names)}"
        if kind < 0.35:
            return f"/([ABbc])(-1)?/#{self.random.choice('12')}%v"
        label = self.random.choice(LABELS)
        if may_name and self.random.random() < 0.3:
            self.n_names += 1
            self.names.append(f"n{self.n_names}")
            return f"{label}={self.names[-1]}"
        return label

    def part(self, depth: int, *, may_name: bool) -> str:
        kind = self.random.random()
        if kind < 0.15:
            mark = "!" if self.random.random() < 0.9 else "!!"
            return f"{mark}{self.inner(depth, may_name=False)}"
        if kind < 0.25:
            return f"?{self.inner(depth, may_name=may_name)}"
        if kind < 0.4:
            before, known, alternatives = list(self.names), list(self.names), []
            for _ in range(2):
                self.names = list(before)
                alternatives.append(self.inner(depth, may_name=may_name))
                known += self.names[len(before) :]
            self.names = known
            return f"[{' | '.join(alternatives)}]"
        return self.inner(depth, may_name=may_name)

    def inner(self, depth: int, *, may_name: bool) -> str:
        if self.random.random() < 0.05:
            return f"<... {{ {self.target(depth, may_name=False)} ; {self.target(depth, may_name=False)} }}"
        relation = self.random.choice(SIMPLE)
        if self.random.random() < 0.15:
            relation = f"{self.random.choice(CHAINS)}({self.random.choice(LABELS[:-2])})"
        return f"{relation} {self.target(depth, may_name=may_name)}"

    def target(self, depth: int, *, may_name: bool) -> str:
        node = self.node(depth - 1, may_name=may_name)
        return f"({node})" if " " in node else node
