"use strict"

// The sentence that is shown: its words, tags and brackets [start, end, label, probability], and the decisions on it,
// brackets that its tree has and does not have and tags that are assigned. Chosen is a bracket (`selected`), a tag (by
// the position of its word), or words (`range`, which began at the word `anchor` if its end is open).
const NOTHING = { selected: null, tag: null, range: null, anchor: null }
const state = { number: 0, required: [], forbidden: [], assigned: {}, text: "", words: [], tags: [], brackets: [], ...NOTHING }
const histories = SETTINGS.sentences.map(() => []) // of the decisions on each sentence
const STATES = { untouched: "", sure: "sure", changed: "changed", saved: "saved" }
const element = (id) => document.getElementById(id)
const same = (one, other) => one[0] === other[0] && one[1] === other[1] && one[2] === other[2]
const crosses = (one, other) =>
  (one[0] < other[0] && other[0] < one[1] && one[1] < other[1]) || (other[0] < one[0] && one[0] < other[1] && other[1] < one[1])
const without = (brackets, bracket) => brackets.filter((each) => !same(each, bracket))
const isKept = (bracket) => state.required.some((each) => same(each, bracket))
const decisions = () => ({ required: state.required, forbidden: state.forbidden, assigned: state.assigned })

// What the server is asked, one thing after the other

const WAITING = "The parser is at work ..."
let last = Promise.resolve()

function ask(path, prepare) {
  last = last.then(() => (prepare?.() === false ? false : request(path)))
  return last
}

async function request(path) {
  const { number } = state
  const isSlow = setTimeout(() => say(WAITING), 400)
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "X-Token": SETTINGS.token, "Content-Type": "application/json" },
      body: JSON.stringify({ number, ...decisions() }),
    })
    const answer = await response.json()
    if (response.ok) SETTINGS.sentences[number].state = answer.state
    if (number !== state.number) return response.ok
    if (!response.ok) {
      say(answer.error)
      return false
    }
    const before = chosen()
    Object.assign(state, answer)
    const found = before === null ? -1 : answer.brackets.findIndex((each) => same(each, before))
    state.selected = found < 0 ? null : found
    show()
    return true
  } catch (error) {
    say(`The server does not answer: ${error.message}`)
    return false
  } finally {
    clearTimeout(isSlow)
    if (element("message").textContent === WAITING) say("")
  }
}

// The tree

function show() {
  const tree = element("tree")
  tree.dir = state.direction
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
  showNames()
  showList()
}

// The words of the chosen bracket or tag, or those for a new bracket: [start, end], or null
function chosenWords() {
  if (state.tag !== null) return [state.tag, state.tag + 1]
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
  const what = state.tag !== null ? `Tag ${state.tags[state.tag]}` : state.selected === null ? "New" : chosen()[2]
  element("chosen").textContent = range === null ? "Nothing is chosen." : `${what}: ${words}`
}

function showNames() {
  const isTag = state.tag !== null
  element("names").hidden = isTag
  element("tag-names").hidden = !isTag
  element("label").setAttribute("list", isTag ? "tags" : "labels")
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
  label.title = SETTINGS.names[bracket[2]] ?? ""
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
  const tag = box.lastChild
  tag.title = SETTINGS.names[state.tags[i]] ?? ""
  tag.classList.toggle("selected", state.tag === i)
  tag.classList.toggle("kept", i in state.assigned)
  tag.addEventListener("click", (event) => {
    event.stopPropagation()
    selectTag(i)
  })
  return box
}

function choose(choice, label) {
  say("")
  Object.assign(state, NOTHING, choice)
  element("label").value = label
  show()
}

const select = (i) => choose({ selected: i }, state.brackets[i][2])
const selectTag = (i) => choose({ tag: i }, state.tags[i])

function selectWords(i, isMore) {
  const isLast = state.range !== null && (isMore || state.anchor !== null)
  const [start, end] = isLast ? state.range : [i, i + 1]
  choose({ range: [Math.min(start, i), Math.max(end, i + 1)], anchor: isLast ? null : i }, "")
}

// The sentences

function showList() {
  const sentences = SETTINGS.sentences
  const count = (name) => sentences.filter((each) => each.state === name).length
  const counts = Object.keys(STATES).map((name) => `${count(name)} ${name}`)
  element("place").textContent = `Sentence ${state.number + 1} of ${sentences.length}: ${sentences[state.number].state}`
  element("counts").textContent = `All sentences: ${counts.join(", ")}`
  if (!element("sentences").open) return
  element("list").replaceChildren(
    ...sentences.map((sentence, i) => {
      const button = make("button", i === state.number ? "selected" : "", `${i + 1}. ${sentence.text}`, STATES[sentence.state])
      button.addEventListener("click", () => goTo(i))
      return button
    }),
  )
}

function goTo(number) {
  say("")
  if (number < 0) return say("This is the first sentence.")
  if (number >= SETTINGS.sentences.length) return sayWhatIsLeft()
  element("label").value = ""
  const nothing = { required: [], forbidden: [], assigned: {}, brackets: [], ...NOTHING }
  ask("/open", () => void Object.assign(state, { number, ...nothing }))
}

function sayWhatIsLeft() {
  const left = SETTINGS.sentences.map((each, i) => [each.state, i + 1]).filter(([each]) => each !== "saved")
  const numbers = (isAsked) => left.filter(([each]) => isAsked(each)).map(([, number]) => number)
  const told = [
    ["changed, but not saved", numbers((each) => each === "changed")],
    ["not saved", numbers((each) => each !== "changed")],
  ].filter(([, list]) => list.length)
  const named = told.map(([what, list]) => `${what}: ${list.slice(0, 20).join(", ")}${list.length > 20 ? ", ..." : ""}`)
  say(left.length ? `This is the last sentence. Sentences ${named.join("; ")}.` : `All sentences are saved in ${SETTINGS.file}.`)
}

// Decisions

// Change the decisions; what the server refuses leaves nothing behind
async function decide(change) {
  const { number } = state
  let before = null
  const isDone = await ask("/parse", () => {
    if (number !== state.number) return false
    before = { ...decisions(), brackets: [...state.brackets] }
    change()
    return true
  })
  if (isDone) histories[number].push(before)
  else if (before !== null && number === state.number) {
    Object.assign(state, before)
    show()
  }
}

function require(bracket) {
  state.required = [...without(state.required, bracket).filter((each) => !crosses(each, bracket)), bracket]
  state.forbidden = without(state.forbidden, bracket)
}

function forbid(bracket) {
  state.required = without(state.required, bracket)
  state.forbidden = [...without(state.forbidden, bracket), bracket]
}

function assign(i, tag) {
  const { [i]: _, ...others } = state.assigned
  state.assigned = tag === null ? others : { ...others, [i]: tag }
}

function chosen() {
  return state.selected === null ? null : state.brackets[state.selected].slice(0, 3)
}

let doubted = "" // the unknown label that was refused last; the second time it is taken

function say(message) {
  element("message").textContent = message
  element("label").toggleAttribute("aria-invalid", false)
  if (!message) doubted = ""
}

function refuse(message) {
  say(message)
  element("label").toggleAttribute("aria-invalid", true)
  element("label").focus()
}

// What is wrong with a label, in words; "" if nothing is
function problemOf(label) {
  const [what, known] = state.tag === null ? ["label", SETTINGS.labels] : ["tag", SETTINGS.tags]
  if (!label) return `Type a ${what}, or click one above.`
  if (/[\s()\p{C}]/u.test(label)) return `A ${what} has no spaces and no brackets: write one such as ${known[0]}.`
  if (known.includes(label) || label === doubted) return ""
  return `The parser knows no ${what} ${label}. Press Enter again to use it all the same.`
}

function isRefused(label) {
  const problem = problemOf(label)
  if (!problem) return false
  refuse(problem)
  doubted = label
  return true
}

const actions = {
  apply() {
    const label = element("label").value.trim()
    const { selected, range, tag } = state
    const old = chosen()
    if (old === null && range === null && tag === null) return say("Choose words, a bracket or a tag first.")
    if (isRefused(label)) return
    say("")
    element("tree").focus()
    if (tag !== null) return decide(() => assign(tag, label))
    if (old !== null && old[2] === label) return decide(() => require(old))
    return decide(() => {
      const bracket = [...(old === null ? range : old.slice(0, 2)), label]
      if (old !== null) {
        forbid(old)
        state.brackets[selected] = [...bracket, null]
      }
      require(bracket)
      state.range = state.anchor = null
    })
  },
  remove() {
    const old = chosen()
    const { tag } = state
    if (tag !== null) return decide(() => assign(tag, null))
    if (old === null) return say("Choose a bracket first, by its label in the tree.")
    return decide(() => forbid(old))
  },
  keep() {
    const old = chosen()
    const { tag } = state
    if (tag !== null) return decide(() => assign(tag, state.tags[tag]))
    if (old === null) return say("Choose a bracket first, by its label in the tree.")
    return decide(() => {
      if (isKept(old)) state.required = without(state.required, old)
      else require(old)
    })
  },
  undo() {
    const before = histories[state.number].pop()
    if (before) ask("/parse", () => void Object.assign(state, before))
  },
  tag: () => selectTag((chosenWords() ?? [0])[0]),
  back: () => goTo(state.number - 1),
  next: () => goTo(state.number + 1),
  async save() {
    if (await ask("/save")) goTo(state.number + 1)
  },
}

function act(name) {
  if (name !== "apply") say("")
  actions[name]()
}

// Keys

function parentOf(i) {
  const [start, end] = state.brackets[i]
  for (let j = i - 1; j >= 0; j--) if (state.brackets[j][0] <= start && end <= state.brackets[j][1]) return j
  return i
}

function move(key, isMore) {
  const step = key === "ArrowLeft" ? -1 : 1
  if (state.tag !== null) {
    selectTag(Math.max(0, Math.min(state.tag + step, state.words.length - 1)))
  } else if (isMore && state.range !== null) {
    const end = state.range[1] + { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (state.range[0] < end && end <= state.words.length) choose({ range: [state.range[0], end] }, "")
  } else if (state.selected === null) {
    if (state.brackets.length) select(0)
  } else {
    const to = key === "ArrowUp" ? parentOf(state.selected) : state.selected + step
    select(Math.max(0, Math.min(to, state.brackets.length - 1)))
  }
}

const KEYS = { x: "remove", Delete: "remove", k: "keep", u: "undo", t: "tag", p: "back", n: "next", s: "save" }

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const isTyping = event.target === element("label")
  if (event.key === "Enter" && (isTyping || event.target === element("tree"))) act("apply")
  else if (event.key === "Escape" && isTyping) {
    say("")
    element("tree").focus()
  } else if (isTyping) return
  else if (event.key.startsWith("Arrow")) move(event.key, event.shiftKey)
  else if (event.key === "r" || event.key === "a") element("label").select()
  else if (event.key in KEYS) act(KEYS[event.key])
  else return
  event.preventDefault()
})
element("label").addEventListener("input", () => say(""))
element("sentences").addEventListener("toggle", showList)
for (const button of document.querySelectorAll("[data-do]"))
  button.addEventListener("click", () => act(button.dataset.do))
for (const button of document.querySelectorAll("[data-label]"))
  button.addEventListener("click", () => {
    element("label").value = button.dataset.label
    act("apply")
  })
goTo(SETTINGS.first)
