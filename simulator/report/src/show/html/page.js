"use strict";
// Shows the full state after any step. The rest of the page works without scripts.
const states = JSON.parse(document.getElementById("states").textContent);
const range = document.getElementById("range");
const chosen = document.getElementById("chosen");
const rows = document.getElementById("rows");

// Returns the row indices of a state: those of control, and those of the items, which are stored as changes.
function stateAfter(step) {
  const items = [];
  let control = [];
  for (const [rows, length, changed] of states.steps.slice(0, step)) {
    control = rows;
    items.length = length;
    for (let i = 0; i < changed.length; i += 2) items[changed[i]] = changed[i + 1];
  }
  return [...control, ...items];
}

// Returns a bar that is drawn with ten characters as a drawing. Screen readers skip it: the number follows.
function bar(text, style) {
  const svg = document.getElementById("bar").content.firstElementChild.cloneNode(true);
  const percent = [...text].reduce((sum, c) => sum + (c === "█" ? 10 : c === "▌" ? 5 : 0), 0);
  if (style) svg.classList.add(style);
  svg.firstElementChild.setAttribute("width", percent + "%");
  return svg;
}

function show(step) {
  if (!(step >= 1 && step <= states.steps.length)) return;
  const list = stateAfter(step);
  const before = new Set(stateAfter(step - 1));
  range.value = step;
  chosen.textContent = step;
  chosen.href = "#s" + step;
  rows.replaceChildren(...list.map((row) => {
    const [name, pieces] = states.rows[row];
    const line = document.createElement("div");
    if (!before.has(row)) line.className = "new";
    const label = document.createElement("span");
    label.className = "name";
    label.textContent = name;
    const value = document.createElement("span");
    for (const [style, text] of pieces) {
      const piece = document.createElement("span");
      if (style) piece.className = style;
      if (/^[█▌·]{10}$/.test(text)) {
        piece.replaceChildren(bar(text, style));
      } else {
        piece.textContent = text;
      }
      value.append(piece);
    }
    line.append(label, value);
    return line;
  }));
}

function showLinkedState() {
  const step = /^#s(\d+)$/.exec(location.hash);
  // A link to a step also moves the panel, and the page stays at the step.
  if (step) show(Number(step[1]));
  const match = /^#state-(\d+)$/.exec(location.hash);
  if (!match) return;
  show(Number(match[1]));
  document.getElementById("state").scrollIntoView({ block: "nearest" });
  range.focus({ preventScroll: true });
}

// Shows only the steps that contain every word, or all steps without a word.
function filterSteps() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const step of steps) {
    const text = step.textContent.toLowerCase();
    step.hidden = !words.every((word) => text.includes(word));
    if (!step.hidden) shown += 1;
  }
  for (const list of document.querySelectorAll("#timeline ol.steps")) {
    list.hidden = ![...list.children].some((step) => !step.hidden);
    const heading = list.previousElementSibling;
    if (heading && heading.tagName === "H4") heading.hidden = list.hidden;
  }
  found.textContent = words.length ? shown + " of " + steps.length + " steps" : "";
}

const query = document.getElementById("query");
const found = document.getElementById("found");
const steps = [...document.querySelectorAll(".step")];
query.addEventListener("input", filterSteps);
// A linked step is visible, whatever the filter.
addEventListener("hashchange", () => {
  const step = document.getElementById(location.hash.slice(1));
  if (step && step.hidden) {
    query.value = "";
    filterSteps();
    step.scrollIntoView();
  }
});
// What can be set at a step, by its class. Most steps are replies.
const settable = { f: "call.error=KIND", m: "message.text=TEXT", w: "write=WRITE", p: "policy.NAME=VALUE" };

// Adds to a step, when its details open, the commands and the link to its full state: in each step they would be half of the page.
// A file name may contain the words that are replaced, and is before them.
function addCommands({ target }) {
  const step = target.closest(".step");
  if (!target.matches(".step > .detail") || step.querySelector(".commands")) return;
  const number = step.id.slice(1);
  const kind = [...step.classList].find((name) => settable[name]);
  const commands = document.querySelector(".commands").cloneNode(true);
  const [fork, diff] = commands.querySelectorAll("code");
  const set = settable[kind] ?? "call.reply=REPLY";
  fork.textContent = fork.textContent.replace(/(.*)STEP --set .*/, (_, start) => start + number + " --set " + set);
  diff.textContent = diff.textContent.replace(/STEP(\.trace\.ndjson'?)$/, number + "$1");
  target.append(commands);
  if (Number(number) > states.steps.length) return;
  const link = document.createElement("a");
  link.href = "#state-" + number;
  link.textContent = "full state after step " + number;
  const line = document.createElement("p");
  line.append(link);
  target.append(line);
}

document.documentElement.classList.add("scripted");
document.addEventListener("toggle", addCommands, true);
if (range) {
  range.addEventListener("input", () => show(Number(range.value)));
  document.getElementById("previous").addEventListener("click", () => show(Number(range.value) - 1));
  document.getElementById("next").addEventListener("click", () => show(Number(range.value) + 1));
  addEventListener("hashchange", showLinkedState);
  show(Number(range.value));
  showLinkedState();
}
