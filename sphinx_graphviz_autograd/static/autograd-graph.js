/* Figures of autograd graphs: details of nodes, what belongs together, backward step by step, a closer look.
 *
 * What is told of a node is read from its row in the figure's table, what feeds what from the ids of the arrows, and all
 * words from the page. Nothing is fetched or stored, and the page is complete without this file.
 */
(() => {
  "use strict";

  const P = "autograd-graph-";
  const PACE = 1600; // milliseconds for a step
  const GAP = 8; // pixels from a node to its card
  const PAUSE = "M5 3v10M11 3v10";
  const figures = [];
  const byId = new Map(); // nodes, by the ids of their boxes and rows
  const byLine = new Map(); // lists of nodes, by the id of the line that made them

  const all = (root, name) => [...root.querySelectorAll(`.${P}${name}`)];
  const one = (root, name) => root.querySelector(`.${P}${name}`);
  const clamp = (value, low, high) => Math.max(low, Math.min(value, high));

  const press = ({ tools }, name, action) => one(tools, name).addEventListener("click", action);

  function make(tag, name, ...content) {
    const element = document.createElement(tag);
    if (name) element.className = P + name;
    element.append(...content);
    return element;
  }

  // - what is in a figure

  function read(svg) {
    const prefix = svg.id.slice(0, -"svg".length);
    const picture = svg.closest(`.${P}picture`) ?? svg.parentElement;
    const figure = {
      svg,
      picture,
      root: svg.closest("figure") ?? picture,
      scroll: one(picture, "scroll"),
      tools: one(picture, "tools"),
      status: one(picture, "status"),
      table: document.querySelector(`#${CSS.escape(prefix)}table table`),
      nodes: new Map(),
      painted: [],
    };
    for (const row of figure.table?.querySelectorAll("tbody tr") ?? []) {
      const id = row.id.slice(prefix.length, -"-row".length);
      const element = document.getElementById(prefix + id);
      if (!element) continue;
      const line = document.getElementById(row.querySelector('a[href*="-line-"]')?.hash.slice(1));
      const node = { figure, element, row, line, from: [], to: [] };
      figure.nodes.set(id, node);
      byId.set(element.id, node).set(row.id, node);
      if (line) byLine.set(line.id, [...(byLine.get(line.id) ?? []), node]);
    }
    for (const element of all(svg, "edge")) {
      const [source, target] = element.id.slice(prefix.length).split("-").map((id) => figure.nodes.get(id));
      if (!source || !target) continue;
      const edge = { element, source, target };
      source.to.push(edge);
      target.from.push(edge);
    }
    return figure;
  }

  /** What stands for a node in a column of the table, which is known by its English name. */
  function cell(node, column) {
    const at = [...node.figure.table.tHead.rows[0].cells].findIndex((head) => head.dataset.column === column);
    return at < 0 ? "" : node.row.cells[at].textContent;
  }

  const carrying = ({ element }) => element.matches(`.${P}gradient, .${P}output`);
  const title = (node) => node.row.cells[0].textContent;
  const short = (node) => node.row.querySelector("th b")?.textContent ?? title(node);

  // - marks: of what is hovered or focused, else of the step, the chosen node, the pinned row of the legend

  function paint(figure) {
    for (const [element, name] of figure.painted) element.classList.remove(P + name);
    const mark = figure.hover ?? figure.step ?? figure.chosen ?? figure.pinned ?? {};
    figure.painted = ["main", "near", "flow", "made"].flatMap((name) => (mark[name] ?? []).map((at) => [at, name]));
    if (figure.painted.length) figure.painted.push([figure.svg, "marked"]);
    for (const [element, name] of figure.painted) element.classList.add(P + name);
  }

  function around(node) {
    const edges = [...node.from, ...node.to];
    const ends = edges.flatMap(({ source, target }) => [source.element, target.element]);
    return {
      main: [node.element],
      near: [...edges.map(({ element }) => element), ...ends.filter((end) => end !== node.element)],
      made: node.line ? [node.line] : [],
    };
  }

  /** The marks that a part of the page stands for, by figure. */
  function meant(part) {
    const line = part.closest('[id*="-line-"]');
    if (byLine.has(line?.id)) {
      const main = byLine.get(line.id).map(({ element }) => element);
      return new Map(byLine.get(line.id).map(({ figure }) => [figure, { main, made: [line] }]));
    }
    const row = part.closest(`.${P}legend > li`);
    const figure = figures.find(({ root }) => root.contains(row));
    if (figure) return new Map([[figure, ofKind(figure, row)]]);
    const node = nodeOf(part) ?? byId.get(part.closest("tr")?.id);
    return new Map(node ? [[node.figure, around(node)]] : []);
  }

  /** The node whose box a part of the page is in, or that it links to. */
  function nodeOf(part) {
    return byId.get(part.closest("a[href]")?.hash.slice(1)) ?? byId.get(part.closest(`.${P}node`)?.id);
  }

  function ofKind(figure, row) {
    const kind = one(row, "swatch")?.classList;
    const box = kind?.contains(`${P}swatch-line`) ? "edge" : "node";
    return { main: all(figure.svg, `${box}.${[...(kind ?? [])].at(-1)}`) };
  }

  function hover(event) {
    const marks = event.target instanceof Element ? meant(event.target) : new Map();
    for (const figure of figures) {
      if (!figure.hover && !marks.has(figure)) continue;
      figure.hover = marks.get(figure);
      paint(figure);
    }
  }

  function legend(figure) {
    for (const row of figure.root.querySelectorAll(`.${P}legend > li`)) {
      const word = row.querySelector("strong");
      if (!word || !ofKind(figure, row).main.length) continue;
      word.tabIndex = 0;
      word.role = "button";
      word.ariaPressed = false;
      word.addEventListener("click", () => {
        const on = word.ariaPressed !== "true";
        for (const other of figure.root.querySelectorAll(`.${P}legend [aria-pressed]`)) other.ariaPressed = false;
        word.ariaPressed = on;
        figure.pinned = on ? ofKind(figure, row) : undefined;
        paint(figure);
      });
    }
  }

  /** Let Enter and the space bar do what a click does. */
  function type(event) {
    if (!["Enter", " "].includes(event.key) || !event.target.matches(`.${P}node, .${P}legend strong`)) return;
    event.preventDefault();
    event.target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }

  // - the lines of code: one stop of the Tab key for each block, arrows from line to line

  function lines() {
    const blocks = new Set([...byLine.keys()].map((id) => document.getElementById(id).closest("pre")));
    for (const block of blocks) {
      const inside = [...block.querySelectorAll('[id*="-line-"]')].filter(({ id }) => byLine.has(id));
      inside[0].tabIndex = 0;
      block.addEventListener("keydown", (event) => {
        const at = inside.indexOf(event.target);
        const to = inside[at + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
        if (at < 0 || !(to || event.key === "Enter")) return;
        event.preventDefault();
        if (to) rove(inside, to);
        else choose(byLine.get(inside[at].id)[0], true);
      });
    }
  }

  function rove(elements, to) {
    for (const element of elements) element.tabIndex = element === to ? 0 : -1;
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // - nodes: one stop of the Tab key for each figure, arrows from box to box

  function boxes(figure) {
    const nodes = [...figure.nodes.values()];
    if (!nodes.length) return;
    figure.boxes = nodes.map(({ element }) => element);
    figure.svg.role = "group"; // in an image nothing could be operated
    nodes.forEach((node, at) => {
      const said = [title(node), cell(node, "Shape"), cell(node, "Made at")].filter(Boolean).join(", ");
      Object.assign(node.element, { role: "button", tabIndex: at ? -1 : 0, ariaLabel: said, ariaExpanded: false });
    });
    figure.svg.addEventListener("keydown", (event) => {
      const node = nodeOf(event.target);
      const to = { Home: nodes[0], End: nodes.at(-1) }[event.key] ?? (node && beside(node, event.key));
      if (!to) return;
      event.preventDefault();
      rove(figure.boxes, to.element);
      if (figure.card) choose(to);
    });
  }

  /** The nearest node in the direction of an arrow key; connected ones count as half as far. */
  function beside(node, key) {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
    const middle = ({ element }) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    const [fromX, fromY] = middle(node);
    const linked = [...node.from, ...node.to].filter(carrying).flatMap(({ source, target }) => [source, target]);
    let best;
    let least = Infinity;
    for (const other of node.figure.nodes.values()) {
      const [dx, dy] = [middle(other)[0] - fromX, middle(other)[1] - fromY];
      const [ahead, aside] = [dx * x + dy * y, Math.abs(dx * y) + Math.abs(dy * x)];
      const far = (ahead + aside) * (linked.includes(other) ? 0.5 : 1);
      if (ahead > 4 && far < least) [best, least] = [other, far];
    }
    return best;
  }

  // - the card of a node

  function choose(node, focus = false) {
    const { figure } = node;
    close(figure);
    figure.card = card(node);
    figure.of = node;
    figure.chosen = around(node);
    figure.scroll.after(figure.card);
    node.element.ariaExpanded = true;
    if (focus) rove(figure.boxes, node.element);
    place(figure);
    paint(figure);
  }

  function card(node) {
    const { figure } = node;
    const list = make("dl");
    const say = (word, content) => list.append(make("dt", "", word), make("dd", "", ...content));
    [...node.row.cells].slice(1).forEach((cell, at) => {
      if (cell.hasChildNodes()) say(figure.table.tHead.rows[0].cells[at + 1].textContent, cell.cloneNode(true).childNodes);
    });
    const fed = [...new Set(node.from.map(({ source }) => source))].flatMap((source, at) => {
      const link = make("a", "", short(source));
      link.href = `#${source.row.id}`;
      return [at ? ", " : "", link];
    });
    if (fed.length) say(figure.tools.dataset.fed, fed);
    const button = make("button", "close", "×");
    button.type = "button";
    button.ariaLabel = figure.tools.dataset.close;
    button.addEventListener("click", () => close(figure, true));
    const heading = make("p", "", ...node.row.cells[0].firstChild.cloneNode(true).childNodes);
    const made = make("div", "card", heading, button, list);
    made.role = "group";
    made.ariaLabel = title(node);
    return made;
  }

  /** Put the card beside its node, else below or above it. */
  function place({ card, of, root, svg }) {
    const frame = (card.offsetParent ?? root).getBoundingClientRect();
    const [box, drawn] = [of.element, svg].map((element) => element.getBoundingClientRect());
    const { width, height } = card.getBoundingClientRect();
    const right = Math.min(frame.right - width, Math.max(box.right, drawn.right) + GAP);
    const left = Math.max(frame.left, Math.min(box.left, drawn.left) - GAP - width);
    let [x, y] = [clamp(box.left, frame.left, Math.max(frame.left, frame.right - width)), box.top];
    if (right >= box.right + GAP) x = right;
    else if (left <= box.left - GAP - width) x = left;
    else if (box.bottom + GAP + height > innerHeight && box.top - GAP - height > 0) y = box.top - GAP - height;
    else y = box.bottom + GAP;
    card.style.left = `${x - frame.left}px`;
    card.style.top = `${y - frame.top}px`;
  }

  function close(figure, focus = false) {
    if (!figure.card) return false;
    if (focus || figure.card.contains(document.activeElement)) figure.of.element.focus({ preventScroll: true });
    figure.of.element.ariaExpanded = false;
    figure.card.remove();
    figure.card = figure.of = figure.chosen = undefined;
    paint(figure);
    return true;
  }

  function click(event) {
    const node = event.target instanceof Element && nodeOf(event.target);
    const link = event.target.closest?.("a[href]");
    const inside = (figure) => figure.card?.contains(event.target) || figure.tools?.contains(event.target);
    for (const figure of figures) if (figure !== node?.figure && !inside(figure)) close(figure);
    if (!node) return;
    if (!link) {
      if (node === node.figure.of) close(node.figure, true);
      else choose(node, true);
    } else if (!link.closest(`.${P}table`) || link.closest("th")) {
      if (link.closest(`.${P}card`)) event.preventDefault();
      choose(node, true);
    }
  }

  function escape(figure) {
    figure.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      const stepped = figure.step;
      if (stepped) figure.walk();
      if (!close(figure) && !stepped) one(figure.root, "full-view")?.close();
      event.preventDefault(); // the first closes the card
    });
  }

  // - backward, step by step

  function walk(figure) {
    const order = [...figure.table.tBodies[0].rows].map((row) => byId.get(row.id)).filter(Boolean);
    const play = one(figure.tools, "play");
    const icon = play.querySelector("path");
    const [start, name] = [icon.getAttribute("d"), play.title];
    let [at, timer] = [-1, 0];
    const running = (on) => {
      clearInterval(timer);
      timer = on ? setInterval(() => go(at + 1, at + 2 < order.length), PACE) : 0;
      icon.setAttribute("d", on ? PAUSE : start);
      play.title = on ? figure.tools.dataset.pause : name;
    };
    const go = (to, on = false) => {
      if (on !== Boolean(timer)) running(on);
      at = to >= order.length ? -1 : to < -1 ? order.length - 1 : to;
      show(figure, order, at);
    };
    figure.walk = () => go(-1);
    press(figure, "previous", () => go(at - 1));
    press(figure, "next", () => go(at + 1));
    press(figure, "play", () => (timer ? running(false) : go(at + 1 < order.length ? at + 1 : 0, true)));
  }

  function show(figure, order, at) {
    for (const label of all(figure.svg, "carried")) label.remove();
    const node = order[at];
    figure.step = node && stepMark(order.slice(0, at), node);
    figure.status.textContent = node ? sentence(figure.tools.dataset, node, at + 1, order.length) : "";
    node?.from.filter(carrying).forEach(carry);
    node?.element.scrollIntoView({ block: "nearest", inline: "nearest" });
    paint(figure);
  }

  function stepMark(before, node) {
    const done = before.flatMap(({ element, from }) => [element, ...from.filter(carrying).map((edge) => edge.element)]);
    const flow = node.from.filter(carrying).map(({ element }) => element);
    return { main: [node.element], near: done, flow, made: node.line ? [node.line] : [] };
  }

  function sentence(words, node, step, steps) {
    const next = [...new Set(node.from.filter(carrying).map(({ source }) => short(source)))];
    const gradient = cell(node, "Gradient") || cell(node, "Shape") || "(?)";
    const values = { step, steps, node: short(node), gradient, next: next.join(", ") };
    const template = words[!node.to.some(carrying) ? "first" : next.length ? "middle" : "last"];
    return template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  /** Write the shape of the gradient at the arrow that carries it, unless its value stands there. */
  function carry({ element, source }) {
    const path = element.querySelector("path");
    if (!path || element.querySelector("text")) return;
    const { x, y } = path.getPointAtLength(path.getTotalLength() / 2);
    const label = document.createElementNS(path.namespaceURI, "text");
    label.setAttribute("class", `${P}carried`);
    label.setAttribute("x", x + 9);
    label.setAttribute("y", y + 4);
    label.textContent = cell(source, "Shape");
    element.append(label);
  }

  // - a closer look

  function look(figure) {
    const { svg, scroll } = figure;
    const natural = svg.viewBox.baseVal;
    const size = (width) => {
      svg.style.width = width ? `${width}px` : "";
      svg.style.maxWidth = width ? "none" : "";
    };
    const zoom = (factor, x, y) => {
      const before = svg.getBoundingClientRect();
      const frame = scroll.getBoundingClientRect();
      [x, y] = [x ?? frame.left + frame.width / 2, y ?? frame.top + frame.height / 2];
      const width = clamp(before.width * factor, 80, natural.width * 6);
      size(width);
      const after = svg.getBoundingClientRect();
      scroll.scrollLeft += after.left - x + ((x - before.left) * after.width) / before.width;
      scroll.scrollTop += after.top - y + ((y - before.top) * after.height) / before.height;
    };
    const fit = () => {
      const [width, height] = [scroll.clientWidth / natural.width, scroll.clientHeight / natural.height];
      size(scroll.closest("dialog") ? Math.min(width, height, 2) * natural.width * 0.96 : 0);
    };
    press(figure, "in", () => zoom(1.25));
    press(figure, "out", () => zoom(0.8));
    press(figure, "fit", fit);
    pinch(scroll, zoom);
    full(figure, fit);
    scroll.addEventListener("scroll", () => figure.card && place(figure));
    new ResizeObserver(() => {
      const scrolls = scroll.scrollWidth > scroll.clientWidth || scroll.scrollHeight > scroll.clientHeight;
      scroll.tabIndex = scrolls ? 0 : -1;
      if (figure.card) place(figure);
    }).observe(svg);
  }

  function pinch(scroll, zoom) {
    scroll.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(Math.exp(-clamp(event.deltaY, -50, 50) / 100), event.clientX, event.clientY);
    }, { passive: false });
    let apart = 0;
    const fingers = (event) => {
      if (event.touches.length !== 2) return;
      event.preventDefault();
      const [{ clientX: x, clientY: y }, { clientX, clientY }] = event.touches;
      const now = Math.hypot(clientX - x, clientY - y);
      if (event.type === "touchmove" && apart) zoom(now / apart, (x + clientX) / 2, (y + clientY) / 2);
      apart = now;
    };
    for (const type of ["touchstart", "touchmove"]) scroll.addEventListener(type, fingers, { passive: false });
  }

  function full(figure, fit) {
    const { picture, root, tools } = figure;
    const dialog = make("dialog", "full-view");
    const button = one(tools, "full");
    const name = button.title;
    dialog.ariaLabel = figure.scroll.ariaLabel;
    press(figure, "full", () => {
      if (dialog.open) return dialog.close();
      const { width, height } = picture.getBoundingClientRect(); // nothing moves behind the full view
      picture.style.cssText = `width: ${width}px; height: ${height}px`;
      dialog.append(...picture.childNodes);
      root.append(dialog);
      dialog.showModal();
      button.title = tools.dataset.close;
      button.focus();
      fit();
    });
    dialog.addEventListener("close", () => {
      picture.append(...dialog.childNodes);
      dialog.remove();
      picture.style.cssText = "";
      button.title = name;
      fit();
      button.focus();
    });
  }

  // - all of it

  function start() {
    figures.push(...all(document, "svg").map(read));
    for (const figure of figures) {
      boxes(figure);
      legend(figure);
      escape(figure);
      if (!figure.tools) continue;
      if (figure.nodes.size) walk(figure);
      look(figure);
      for (const group of figure.tools.querySelectorAll("[hidden]")) group.hidden = false;
    }
    lines();
    const leave = (event) => event.relatedTarget || hover({ target: document.body });
    const listeners = { pointerover: hover, focusin: hover, pointerleave: leave, focusout: leave, click, keydown: type };
    for (const [name, action] of Object.entries(listeners)) document.addEventListener(name, action);
    const id = location.hash.slice(1);
    if (byId.get(id)?.element.id === id) choose(byId.get(id));
  }

  start();
})();
