"use strict";
// el makes an element. Everything that the document says becomes text, never markup.
const el = (tag, props = {}, ...children) => {
  const {attributes, ...own} = props;
  const node = Object.assign(document.createElement(tag), own);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
};

let api;

// prose is a paragraph in which what stands between backquotes is code.
const prose = (text, props = {}) => el("p", props, ...text.split("`").map((part, i) => i % 2 ? el("code", {textContent: part}) : part));

const resolve = (value) => {
  while (value && value.$ref) value = value.$ref.slice(2).split("/").reduce((at, part) => at[part], api);
  return value;
};

const nameOf = (schema) => schema && schema.$ref ? schema.$ref.split("/").pop() : "";

const choices = (schema) => schema.oneOf || schema.anyOf || schema.allOf;

// typeOf says a schema's type in words, such as "array of Video" or "string or null".
const typeOf = (given) => {
  const name = nameOf(given), schema = resolve(given);
  if (!schema) return "any";
  if (choices(schema)) return name || choices(schema).map(typeOf).join(" or ");
  const types = [].concat(schema.type || (schema.properties ? "object" : "any"));
  return types.map((type) => {
    if (type === "array") return "array of " + typeOf(schema.items || {});
    return type === "object" && name ? name : type;
  }).join(" or ");
};

const bounds = (schema) => [
  schema.format, schema.enum && "one of " + schema.enum.join(", "),
  schema.default !== undefined && "default " + JSON.stringify(schema.default),
  schema["x-default"] !== undefined && "default " + JSON.stringify(schema["x-default"]),
  schema["x-pattern-description"] || (schema.pattern && "matches " + schema.pattern),
  schema.minLength !== undefined && "at least " + schema.minLength + " characters",
  schema.maxLength !== undefined && "at most " + schema.maxLength + " characters",
  schema.minimum !== undefined && "from " + schema.minimum, schema.maximum !== undefined && "to " + schema.maximum,
  schema.maxItems !== undefined && "at most " + schema.maxItems + " of them", schema.readOnly && "ignored when sent",
].filter(Boolean).join(" · ");

// inner is the object whose members are shown below a member of this schema.
const inner = (given) => {
  const schema = resolve(given);
  if (!schema) return null;
  if (schema.properties || choices(schema)) return schema;
  return schema.items ? inner(schema.items) : null;
};

const rowsOf = (schema, depth) => {
  if (choices(schema) && !schema.properties) {
    return choices(schema).flatMap((choice, i) => {
      const below = inner(choice);
      const title = el("tr", {}, el("td", {colSpan: 2, className: "soft"}, (i ? "or " : "either ") + typeOf(choice)));
      return [title, ...(below ? rowsOf(below, depth + 1) : [])];
    });
  }
  const required = new Set(schema.required || []);
  return Object.entries(schema.properties || {}).map(([name, given]) => memberRow(name, given, required.has(name), depth));
};

// memberRow is a member's row; what is inside of it is made when it is asked for, since schemas may hold themselves.
const memberRow = (name, given, required, depth) => {
  const schema = resolve(given), below = inner(given);
  const label = el("td", {}, el("code", {textContent: name}), required ? "" : el("span", {className: "soft", textContent: " optional"}));
  label.style.paddingLeft = depth * 16 + "px";
  const about = el("td", {}, el("span", {className: "type", textContent: typeOf(given)}),
    bounds(schema) ? el("p", {className: "soft", textContent: bounds(schema)}) : "",
    schema.description ? prose(schema.description) : "");
  const row = el("tr", {}, label, about);
  if (below) {
    const button = el("button", {className: "more", type: "button", textContent: "members", attributes: {"aria-expanded": "false"}});
    let shown = null;
    button.addEventListener("click", () => {
      if (shown) shown.forEach((one) => one.remove());
      shown = shown ? null : rowsOf(below, depth + 1);
      if (shown) row.after(...shown);
      button.setAttribute("aria-expanded", String(Boolean(shown)));
    });
    about.append(" ", button);
  }
  return row;
};

const schemaTable = (given) => {
  const schema = inner(given);
  const about = el("p", {className: "soft", textContent: typeOf(given)});
  return schema ? el("div", {}, about, el("table", {}, el("tbody", {}, ...rowsOf(schema, 0)))) : about;
};

const pretty = (value) => typeof value === "string" ? value : JSON.stringify(value, null, 2);

// mediaView shows a body: an example and its members, one at a time.
const mediaView = (media) => {
  const views = [];
  if (media.example !== undefined) views.push(["Example", () => el("pre", {textContent: pretty(media.example), tabIndex: 0})]);
  const file = media.examples && media.examples.file;
  if (file) views.push(["Example", () => el("div", {}, el("p", {className: "soft", textContent: file.summary}), el("pre", {textContent: file.value, tabIndex: 0}))]);
  if (media.schema) views.push(["Members", () => schemaTable(media.schema)]);
  const box = el("div"), tabs = el("div", {className: "tabs", attributes: {role: "tablist"}});
  const show = (chosen) => {
    [...tabs.children].forEach((tab, i) => tab.setAttribute("aria-selected", String(i === chosen)));
    box.replaceChildren(views[chosen][1]());
  };
  views.forEach(([title], i) => {
    const tab = el("button", {type: "button", textContent: title, attributes: {role: "tab"}});
    tab.addEventListener("click", () => show(i));
    tabs.append(tab);
  });
  if (views.length) show(0);
  return el("div", {}, views.length > 1 ? tabs : "", box);
};

const bodyView = (content) => el("div", {}, ...Object.entries(content || {}).map(([type, media]) =>
  el("div", {}, type === "application/json" ? "" : el("p", {}, el("code", {textContent: type})), mediaView(media))));
