"use strict"

// Decisions on the sentence that is shown: brackets [start, end, label] that its tree has, and that it does not have.
// The chosen bracket is `selected`, the chosen words are `range`, which began at the word `anchor` if its end is open.
const state = {
  number: 0, required: [], forbidden: [], history: [], text: "", words: [], tags: [], brackets: [],
  selected: null, range: null, anchor: null,
}
const element = (id) => document.getElementById(id)
const same = (one, other) => one[0] === other[0] && one[1] === other[1] && one[2] === other[2]
const crosses = (one, other) =>
  (one[0] < other[0] && other[0] < one[1] && one[1] < other[1]) || (other[0] < one[0] && one[0] < other[1] && other[1] < one[1])
const without = (brackets, bracket) => brackets.filter((each) => !same(each, bracket))
const isKept = (bracket) => state.required.some((each) => same(each, bracket))

// What the server is asked, one thing after the other

let last = Promise.resolve()

function ask(path) {
  last = last.then(() => request(path))
  return last
}

async function request(path) {
  const { number, required, forbidden } = state
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "X-Token": SETTINGS.token, "Content-Type": "application/json" },
      body: JSON.stringify({ number, required, forbidden }),
    })
    const answer = await response.json()
    say(response.ok ? "" : answer.error)
    if (!response.ok || number !== state.number) return response.ok
    const before = state.selected === null ? null : state.brackets[state.selected]
    Object.assign(state, answer)
    const found = before === null ? -1 : answer.brackets.findIndex((each) => same(each, before))
    state.selected = found < 0 ? null : found
    show()
    return true
  } catch (error) {
    say(`The server does not answer: ${error.message}`)
    return false
  }
}

// The tree

function show() {
  const tree = element("tree")
  tree.replaceChildren()
  const open = [{ end: state.words.length, box: tree }]
  let position = 0
  const advance = (to) => {
    for (;;) {
      const top = open[open.length - 1]
      for (const stop = Math.min(to, top.end); position < stop; position++) top.box.append(wordBox(position))
      if (top.end > to || open.length === 1) return
      open.pop()
    }
  }
  state.brackets.forEach((bracket, i) => {
    advance(bracket[0])
    const box = bracketBox(bracket, i)
    open[open.length - 1].box.append(box)
    open.push({ end: bracket[1], box: box.lastChild })
  })
  advance(state.words.length)
  showSentence()
  const saved = state.isSaved ? ", saved" : ""
  element("place").textContent = `Sentence ${state.number + 1} of ${SETTINGS.n}${saved}; ${state.nSaved} saved`
}

// The words of the chosen bracket, or those for a new one: [start, end], or null
function chosenWords() {
  return state.selected === null ? state.range : state.brackets[state.selected].slice(0, 2)
}

function showSentence() {
  const line = element("sentence")
  const range = chosenWords()
  let at = 0
  line.replaceChildren()
  state.words.forEach((word, i) => {
    const start = Math.max(state.text.indexOf(word, at), at)
    const box = make("span", isWithin(i, range) ? "selected" : "", word)
    box.addEventListener("click", (event) => selectWords(i, event.shiftKey))
    line.append(state.text.slice(at, start), box)
    at = start + word.length
  })
  const words = range === null ? "" : state.words.slice(...range).join(" ")
  element("chosen").textContent =
    range === null ? "Nothing is chosen." : `${state.selected === null ? "New" : chosen()[2]}: ${words}`
}

function isWithin(i, range) {
  return range !== null && range[0] <= i && i < range[1]
}

function make(kind, name, text, small) {
  const box = document.createElement(kind)
  box.className = name
  if (text) box.append(text)
  if (small) box.append(Object.assign(document.createElement("small"), { textContent: small }))
  return box
}

function bracketBox(bracket, i) {
  const box = make("div", "bracket", "")
  const p = bracket[3]
  const label = make("button", "label", bracket[2], isKept(bracket) ? "kept" : p === null ? "" : p.toFixed(2))
  label.addEventListener("click", () => select(i))
  box.append(label, make("div", "below", ""))
  box.classList.toggle("kept", isKept(bracket))
  box.classList.toggle("selected", state.selected === i)
  return box
}

function wordBox(i) {
  const box = make("span", "word", state.words[i], state.tags[i])
  box.classList.toggle("selected", isWithin(i, state.range))
  box.addEventListener("click", (event) => selectWords(i, event.shiftKey))
  return box
}

function select(i) {
  state.selected = i
  state.range = state.anchor = null
  element("label").value = state.brackets[i][2]
  show()
}

function selectWords(i, isMore) {
  const isLast = state.range !== null && (isMore || state.anchor !== null)
  const [start, end] = isLast ? state.range : [i, i + 1]
  state.range = [Math.min(start, i), Math.max(end, i + 1)]
  state.anchor = isLast ? null : i
  state.selected = null
  element("label").value = ""
  show()
}

// Decisions

function decide(change) {
  state.history.push([state.required, state.forbidden])
  change()
  ask("/parse")
}

function require(bracket) {
  state.required = [...without(state.required, bracket).filter((each) => !crosses(each, bracket)), bracket]
  state.forbidden = without(state.forbidden, bracket)
}

function forbid(bracket) {
  state.required = without(state.required, bracket)
  state.forbidden = [...without(state.forbidden, bracket), bracket]
}

function chosen() {
  return state.selected === null ? null : state.brackets[state.selected].slice(0, 3)
}

function say(message) {
  element("message").textContent = message
}

function goTo(number) {
  if (number < 0 || number >= SETTINGS.n) {
    say("There are no more sentences.")
    return
  }
  Object.assign(state, { number, required: [], forbidden: [], history: [], selected: null, range: null, anchor: null })
  ask("/open")
}

const actions = {
  apply() {
    const label = element("label").value.trim()
    const old = chosen()
    const range = state.range
    if (old === null && range === null) return say("Choose words or a bracket first.")
    if (!label) return say("Choose a label.")
    element("tree").focus()
    if (old !== null && old[2] === label) return actions.keep()
    decide(() => {
      const bracket = [...(old === null ? range : old.slice(0, 2)), label]
      if (old !== null) {
        forbid(old)
        state.brackets[state.selected] = [...bracket, null]
      }
      require(bracket)
      state.range = state.anchor = null
    })
  },
  remove() {
    const old = chosen()
    if (old === null) return say("Choose a bracket first, by its label in the tree.")
    decide(() => forbid(old))
  },
  keep() {
    const old = chosen()
    if (old === null) return say("Choose a bracket first, by its label in the tree.")
    decide(() => {
      if (isKept(old)) state.required = without(state.required, old)
      else require(old)
    })
  },
  undo() {
    if (!state.history.length) return
    ;[state.required, state.forbidden] = state.history.pop()
    ask("/parse")
  },
  back: () => goTo(state.number - 1),
  next: () => goTo(state.number + 1),
  async save() {
    if (await ask("/save")) goTo(state.number + 1)
  },
}

// Keys

function parentOf(i) {
  const [start, end] = state.brackets[i]
  for (let j = i - 1; j >= 0; j--) if (state.brackets[j][0] <= start && end <= state.brackets[j][1]) return j
  return i
}

function move(key, isMore) {
  if (isMore && state.range !== null) {
    const end = state.range[1] + { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (state.range[0] < end && end <= state.words.length) state.range[1] = end
    show()
  } else if (state.selected === null) {
    if (state.brackets.length) select(0)
  } else {
    const to = key === "ArrowUp" ? parentOf(state.selected) : state.selected + (key === "ArrowLeft" ? -1 : 1)
    select(Math.max(0, Math.min(to, state.brackets.length - 1)))
  }
}

const KEYS = { x: "remove", Delete: "remove", k: "keep", u: "undo", p: "back", n: "next", s: "save" }

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const isTyping = event.target === element("label")
  if (event.key === "Enter" && (isTyping || event.target === element("tree"))) actions.apply()
  else if (event.key === "Escape" && isTyping) element("tree").focus()
  else if (isTyping) return
  else if (event.key.startsWith("Arrow")) move(event.key, event.shiftKey)
  else if (event.key === "r" || event.key === "a") element("label").select()
  else if (event.key in KEYS) actions[KEYS[event.key]]()
  else return
  event.preventDefault()
})
for (const button of document.querySelectorAll("[data-do]"))
  button.addEventListener("click", () => actions[button.dataset.do]())
for (const button of document.querySelectorAll("[data-label]"))
  button.addEventListener("click", () => {
    element("label").value = button.dataset.label
    actions.apply()
  })
goTo(SETTINGS.first)
