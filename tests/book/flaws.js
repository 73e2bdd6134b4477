// Calls back with the serious and critical flaws of a page that has loaded axe-core: theme, rule, element. It takes the
// kinds of text that passed for contrast on other pages, and calls back with all of them: that judgement is slow. Two
// texts are of one kind if they have the same colour, size and weight, on the same grounds.
const done = arguments[arguments.length - 1], serious = ["serious", "critical"], flaws = [], contrast = "color-contrast"
for (const fold of document.querySelectorAll("details")) fold.open = true
const still = "<style>* { transition: none !important; animation: none !important }</style>"
document.head.insertAdjacentHTML("beforeend", still)
const kinds = new Set(arguments[0])
function kindOf(element) {
  const { color, fontSize, fontWeight } = getComputedStyle(element), kind = [color, fontSize, fontWeight]
  for (let around = element; around; around = around.parentElement) {
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(around)
    kind.push(backgroundColor, backgroundImage, opacity)
  }
  return kind.filter(value => !["rgba(0, 0, 0, 0)", "none", "1"].includes(value)).join()
}
axe.configure({ rules: [{ id: contrast, selector: "[data-judged]" }] })
async function judge(theme, options) {
  document.documentElement.dataset.theme = theme
  for (const element of document.querySelectorAll("body *")) {
    const tells = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim())
    element.toggleAttribute("data-judged", tells && element.checkVisibility() && !kinds.has(kindOf(element)))
  }
  const { violations, passes } = await axe.run({ elementRef: true, ...options })
  for (const rule of violations.filter(rule => serious.includes(rule.impact)))
    for (const node of rule.nodes) flaws.push([theme, rule.id, node.html.slice(0, 200)])
  for (const rule of passes.filter(rule => rule.id === contrast))
    for (const node of rule.nodes) kinds.add(kindOf(node.element))
}
const rest = { rules: { [contrast]: { enabled: false } }, resultTypes: ["violations"] }
const colours = { runOnly: [contrast], resultTypes: ["violations", "passes"] }
const all = [["light", rest], ["light", colours], ["dark", colours]]
all.reduce((last, each) => last.then(() => judge(...each)), Promise.resolve()).then(() => done([flaws, [...kinds]]))
