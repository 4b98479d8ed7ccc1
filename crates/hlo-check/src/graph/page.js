"use strict";
// How many rows a computation shows at once, and how many nodes a picture has at most.
const ROWS = 300, MATCHES = 300, PICTURE = 150;
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
function drawn(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

for (const side of data.sides) {
  side.users = side.nodes.map(() => []);
  side.home = new Array(side.nodes.length);
  side.nodes.forEach((node, index) => node.o.forEach(operand => side.users[operand].push(index)));
  side.computations.forEach((computation, index) => {
    side.home.fill(index, computation.first, computation.first + computation.count);
  });
}

const search = element("input", {type: "search", id: "search", placeholder: "search: name, opcode, shape, any text"});
const radius = element("input", {type: "number", id: "radius", min: "1", max: "20", value: "2"});
const count = element("span", {id: "count", class: "note"});
const header = element("header", {}, element("strong", {text: "HLO graph"}), search, count,
  element("label", {text: "steps "}, radius));
const main = element("main", {});
document.body.append(header, main);

// Everything that isn't the same on both sides, in the order of the module after; what is gone stands where it was.
const differences = [];
let current = -1;
if (data.sides.length === 2) {
  const [before, after] = data.sides;
  after.nodes.forEach((node, index) => {
    if (node.k && node.k !== "same") differences.push({side: after, index, place: index});
  });
  let last = -1;
  before.nodes.forEach((node, index) => {
    if (node.p !== undefined) last = node.p;
    else if (node.k && node.k !== "same") differences.push({side: before, index, place: last + 0.5});
  });
  differences.sort((a, b) => a.place - b.place);
  const position = element("span", {id: "position", class: "note",
    text: differences.length ? `${differences.length} differences` : "no differences"});
  const button = (id, text, step) => {
    const made = element("button", {id, text});
    made.disabled = !differences.length;
    made.addEventListener("click", () => go(step, position));
    return made;
  };
  header.append(button("previous", "previous difference", -1), button("next", "next difference", 1), position);
}
function go(step, position) {
  const first = current < 0 && step < 0 ? 0 : current;
  current = (first + step + differences.length) % differences.length;
  if (search.value) { search.value = ""; find(); }
  const {side, index} = differences[current];
  // What is gone has nothing to show on the other side.
  if (side.nodes[index].p === undefined) data.sides.filter(other => other !== side).forEach(clear);
  select(side, index);
  position.textContent = `${current + 1} of ${differences.length} differences`;
}
const kinds = data.sides.length === 2 ? ["added", "removed", "changed", "renamed", "moved"] : [];
document.body.append(element("footer", {class: "note"}, ...kinds.map(kind => element("span", {class: "key " + kind, text: kind})),
  element("span", {class: "key row operand", text: "operand of the selected instruction"}),
  element("span", {class: "key row user", text: "its user"})));
const hint = () => element("p", {class: "hint note", text: "Click an instruction to see what is near it"
  + (data.sides.length === 2 ? " and its counterpart on the other side." : ".")});
function clear(side) {
  side.selected = undefined;
  mark(side);
  side.picture.replaceChildren(hint());
}

data.sides.forEach((side, number) => {
  side.list = element("div", {class: "list"});
  side.picture = element("div", {class: "picture"}, hint());
  const instructions = side.nodes.length, computations = side.computations.length;
  main.append(element("section", {"data-side": number},
    element("h2", {text: side.title + " "}, element("span", {class: "note",
      text: `${side.module}: ${instructions} instructions, ${computations} computations`})),
    side.list, side.picture));
  showComputations(side);
});

function row(side, index) {
  const node = side.nodes[index];
  const made = element("div", {class: "row " + (node.k || ""), "data-node": index, tabindex: "0",
    title: node.k || "", text: node.t});
  made.addEventListener("click", () => select(side, index));
  made.addEventListener("keydown", event => { if (event.key === "Enter") select(side, index); });
  return made;
}
function addRows(side, parent, indices, limit) {
  const shown = indices.slice(0, limit);
  parent.append(...shown.map(index => row(side, index)));
  if (indices.length > limit) {
    const more = element("button", {class: "more", text: `${indices.length - limit} more`});
    more.addEventListener("click", () => { more.remove(); addRows(side, parent, indices.slice(limit), limit); });
    parent.append(more);
  }
}
function indicesOf(computation) {
  return Array.from({length: computation.count}, (_, at) => computation.first + at);
}
function fill(side, computation) {
  if (computation.filled) return;
  computation.filled = true;
  addRows(side, computation.details, indicesOf(computation), ROWS);
}
function showComputations(side) {
  side.list.replaceChildren();
  for (const computation of side.computations) {
    const notes = [`${computation.count} instructions`];
    if (computation.hidden) notes.push(`${computation.hidden} not shown`);
    if (computation.changes) notes.push(`${computation.changes} different`);
    computation.filled = false;
    computation.details = element("details", {}, element("summary",
      {text: (computation.entry ? "ENTRY " : "") + "%" + computation.name + " "},
      element("span", {class: "note", text: notes.join(", ")})));
    computation.details.addEventListener("toggle", () => {
      if (computation.details.open) fill(side, computation);
    });
    side.list.append(computation.details);
    if (computation.entry) { computation.details.open = true; fill(side, computation); }
  }
  mark(side);
}
// Shows the row of a node, whatever has to be opened for that.
function reveal(side, index) {
  const computation = side.computations[side.home[index]];
  if (computation.details.isConnected) {
    computation.details.open = true;
    fill(side, computation);
    const place = index - computation.first;
    while (!side.list.querySelector(`[data-node="${index}"]`)) {
      const more = computation.details.querySelector(".more");
      if (!more || place < 0) break;
      more.click();
    }
  }
  const found = side.list.querySelector(`[data-node="${index}"]`);
  if (found) found.scrollIntoView({block: "center"});
}
function select(side, index, isEcho) {
  side.selected = index;
  reveal(side, index);
  mark(side);
  draw(side);
  const counterpart = side.nodes[index].p;
  if (!isEcho && counterpart !== undefined) {
    const other = data.sides.find(candidate => candidate !== side);
    if (other) select(other, counterpart, true);
  }
}
function mark(side) {
  for (const made of side.list.querySelectorAll(".selected, .operand, .user")) {
    made.classList.remove("selected", "operand", "user");
  }
  if (side.selected === undefined) return;
  const put = (index, name) => side.list.querySelector(`[data-node="${index}"]`)?.classList.add(name);
  put(side.selected, "selected");
  side.nodes[side.selected].o.forEach(index => put(index, "operand"));
  side.users[side.selected].slice(0, ROWS).forEach(index => put(index, "user"));
}

// What is near the selected node, in layers: operands above their users.
function draw(side) {
  const near = new Map([[side.selected, 0]]);
  const queue = [side.selected];
  const limit = Math.max(1, Number(radius.value) || 1);
  for (let at = 0; at < queue.length && near.size < PICTURE; at++) {
    const index = queue[at], distance = near.get(index);
    if (distance === limit) continue;
    for (const next of [...side.nodes[index].o, ...side.users[index]]) {
      if (!near.has(next) && near.size < PICTURE) { near.set(next, distance + 1); queue.push(next); }
    }
  }
  const indices = [...near.keys()].sort((a, b) => a - b);
  const layer = new Map();
  const layerOf = index => {
    // Operands have smaller numbers than their users, so that those are known.
    let depth = 0;
    for (const operand of side.nodes[index].o) {
      if (layer.has(operand)) depth = Math.max(depth, layer.get(operand) + 1);
    }
    return depth;
  };
  indices.forEach(index => layer.set(index, layerOf(index)));
  const layers = [];
  indices.forEach(index => (layers[layer.get(index)] ||= []).push(index));
  const WIDTH = 190, HEIGHT = 36, GAP = 16, STEP = 78;
  const place = new Map();
  layers.forEach((members, depth) => {
    const centre = index => {
      const known = side.nodes[index].o.filter(operand => place.has(operand));
      if (!known.length) return 0;
      return known.reduce((sum, operand) => sum + place.get(operand).x, 0) / known.length;
    };
    members.map(index => [centre(index), index]).sort((a, b) => a[0] - b[0] || a[1] - b[1])
      .forEach(([, index], at) => place.set(index, {x: GAP + at * (WIDTH + GAP), y: GAP + depth * STEP}));
  });
  const width = GAP + Math.max(...layers.map(members => members.length)) * (WIDTH + GAP);
  const height = GAP + layers.length * STEP;
  const svg = drawn("svg", {width, height, viewBox: `0 0 ${width} ${height}`});
  for (const index of indices) {
    for (const operand of side.nodes[index].o) {
      if (!place.has(operand)) continue;
      const from = place.get(operand), to = place.get(index);
      const x1 = from.x + WIDTH / 2, y1 = from.y + HEIGHT, x2 = to.x + WIDTH / 2, y2 = to.y;
      svg.append(drawn("path", {d: `M${x1},${y1} C${x1},${y1 + 24} ${x2},${y2 - 24} ${x2},${y2}`}));
    }
  }
  const cut = text => text.length > 27 ? text.slice(0, 26) + "…" : text;
  for (const index of indices) {
    const node = side.nodes[index], at = place.get(index);
    const group = drawn("g", {class: (node.k || "") + (index === side.selected ? " selected" : ""),
      "data-node": index, transform: `translate(${at.x},${at.y})`});
    const title = drawn("title", {});
    title.textContent = node.t;
    const name = drawn("text", {x: 6, y: 14}), summary = drawn("text", {x: 6, y: 29});
    name.textContent = cut("%" + node.n);
    summary.textContent = cut(node.s);
    group.append(title, drawn("rect", {width: WIDTH, height: HEIGHT, rx: 4}), name, summary);
    group.addEventListener("click", () => select(side, index));
    svg.append(group);
  }
  side.picture.replaceChildren(svg);
}

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(word => word);
  let total = 0;
  for (const side of data.sides) {
    if (!words.length) { showComputations(side); continue; }
    const found = [];
    side.nodes.forEach((node, index) => {
      node.l ||= ((node.k || "") + " " + node.t).toLowerCase();
      if (words.every(word => node.l.includes(word))) found.push(index);
    });
    total += found.length;
    side.list.replaceChildren();
    addRows(side, side.list, found, MATCHES);
    mark(side);
  }
  count.textContent = words.length ? `${total} found` : "";
}
search.addEventListener("input", find);
radius.addEventListener("input", () => data.sides.forEach(side => {
  if (side.selected !== undefined) draw(side);
}));
document.addEventListener("keydown", event => {
  if (event.key === "/" && event.target !== search) { event.preventDefault(); search.focus(); }
  if (event.key === "Escape") { search.value = ""; find(); }
});
