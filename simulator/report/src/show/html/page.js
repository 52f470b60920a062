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
      // Screen readers skip a bar: the number follows.
      if (/^[█▌·]{10}$/.test(text)) {
        piece.classList.add("bar");
        piece.ariaHidden = "true";
      }
      piece.textContent = text;
      value.append(piece);
    }
    line.append(label, value);
    return line;
  }));
}

function showLinkedState() {
  const match = /^#state-(\d+)$/.exec(location.hash);
  if (!match) return;
  show(Number(match[1]));
  document.getElementById("state").scrollIntoView({ block: "nearest" });
  range.focus({ preventScroll: true });
}

// What can be set at a step, by its class. Most steps are replies.
const settable = { f: "call.error=KIND", m: "message.text=TEXT", w: "write=WRITE", p: "policy.NAME=VALUE" };

// Adds the commands of a step when its details open. A file name may contain the words that are replaced, and is before them.
function addCommands({ target }) {
  const step = target.closest(".step");
  if (!step || step.querySelector(".commands")) return;
  const kind = [...step.classList].find((name) => settable[name]);
  const commands = document.querySelector(".commands").cloneNode(true);
  const [fork, diff] = commands.querySelectorAll("code");
  const set = settable[kind] ?? "call.reply=REPLY";
  fork.textContent = fork.textContent.replace(/(.*)STEP --set .*/, (_, start) => start + step.value + " --set " + set);
  diff.textContent = diff.textContent.replace(/STEP(\.trace\.ndjson'?)$/, step.value + "$1");
  target.append(commands);
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
