"use strict"

// Enter parses, Shift+Enter begins a new line; the field always has the text of the tree below it, also after Back.
const form = document.querySelector("form")
form.elements.text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
  event.preventDefault()
  form.requestSubmit()
})
addEventListener("pageshow", () => form.reset())
