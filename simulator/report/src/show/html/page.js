"use strict";
// Shows the state after any step, whole. The page reads without it.
const states = JSON.parse(document.getElementById("states").textContent);
const range = document.getElementById("at");
const chosen = document.getElementById("chosen");
const rows = document.getElementById("rows");

// The rows of a state: those of control, and those of the items, which stand as changes of the state before.
function after(step) {
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
  const list = after(step);
  const before = new Set(after(step - 1));
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
    const words = document.createElement("span");
    for (const [ink, text] of pieces) {
      const piece = document.createElement("span");
      if (ink) piece.className = ink;
      // A bar says once more what the figures beside it say.
      if (/^[█▌·]{10}$/.test(text)) {
        piece.classList.add("bar");
        piece.ariaHidden = "true";
      }
      piece.textContent = text;
      words.append(piece);
    }
    line.append(label, words);
    return line;
  }));
}

function follow() {
  const asked = /^#state-(\d+)$/.exec(location.hash);
  if (!asked) return;
  show(Number(asked[1]));
  document.getElementById("state").scrollIntoView({ block: "nearest" });
  range.focus({ preventScroll: true });
}

document.documentElement.classList.add("scripted");
if (range) {
  range.addEventListener("input", () => show(Number(range.value)));
  document.getElementById("back").addEventListener("click", () => show(Number(range.value) - 1));
  document.getElementById("on").addEventListener("click", () => show(Number(range.value) + 1));
  addEventListener("hashchange", follow);
  show(Number(range.value));
  follow();
}
