const methods = ["get", "post", "put", "patch", "delete"];
const whoMay = {
  none: "anybody", optional: "anybody; a token counts", jwt: "who is signed in", customer: "customers", "customer|admin": "customers and admins",
  admin: "admins", root: "root users", subscriber: "subscribers and admins", gateway: "the gateway",
};

// operations are all of them, by the name of their group in the order of the document's tags.
const operations = () => {
  const groups = new Map(api.tags.map((tag) => [tag.name, {tag, all: []}]));
  for (const path of Object.keys(api.paths).sort()) {
    for (const method of methods) {
      const op = api.paths[path][method];
      if (op) groups.get(op.tags[0]).all.push({path, method, op, words: [method, path, op.operationId, op.summary, op.description].join(" ").toLowerCase()});
    }
  }
  return groups;
};

const answersView = (op) => el("div", {className: "answers"}, ...Object.entries(op.responses).map(([status, given], i) => {
  const response = resolve(given), panel = el("div", {className: "inner"});
  const box = el("details", {open: i === 0}, el("summary", {}, el("strong", {textContent: status === "default" ? "Otherwise" : status}), " ", el("span", {className: "soft", textContent: response.description.split(":")[0]})), panel);
  const fill = () => { if (box.open && !panel.childElementCount) panel.append(response.content ? bodyView(response.content) : el("p", {className: "soft", textContent: "Without a body."})); };
  box.addEventListener("toggle", fill);
  fill();
  return box;
}));

const operationView = ({path, method, op}) => {
  const parameters = (op.parameters || []).map(resolve);
  const article = el("article", {id: op.operationId, tabIndex: -1},
    el("h2", {}, el("a", {href: "#" + op.operationId, textContent: op.summary})),
    el("div", {className: "address"}, el("span", {className: "method " + method, textContent: method.toUpperCase()}), el("code", {textContent: path}),
      el("span", {className: "badge", textContent: "for " + (whoMay[op["x-auth"]] || op["x-auth"])})),
    op.description ? prose(op.description) : "");
  if (parameters.length) {
    article.append(el("h3", {textContent: "Parameters"}), el("table", {}, el("tbody", {}, ...parameters.map((p) =>
      memberRow(p.name, {...resolve(p.schema), description: p.description}, Boolean(p.required), 0)))));
  }
  if (op.requestBody) article.append(el("h3", {textContent: "Body" + (op.requestBody.required ? "" : ", optional")}), bodyView(resolve(op.requestBody).content));
  article.append(el("h3", {textContent: "Answers"}), answersView(op), tryForm(method, path, op));
  return article;
};

const list = (...items) => el("ul", {className: "plain"}, ...items.map((item) => el("li", {}, ...[].concat(item))));

const startView = () => el("div", {}, el("h1", {textContent: api.info.title + " API"}),
  el("p", {textContent: api.info.description}),
  el("p", {className: "soft"}, "Version " + api.info.version + " · ", el("a", {href: "openapi.json", textContent: "openapi.json"}), ", from which clients are generated"),
  list(
    ["Sign in at ", el("a", {href: "#token_post", textContent: "POST /api/v1/token"}), " and send ", el("code", {textContent: "Authorization: Bearer <access_token>"}), "."],
    ["A list takes ", el("code", {textContent: "query"}), " and ", el("code", {textContent: "sort"}), " in the manner of MongoDB's find, such as ", el("code", {textContent: "query={\"status\":\"active\"}"}), ", and pages by ", el("code", {textContent: "current_page"}), " and ", el("code", {textContent: "qty_docs_page"}), "."],
    "What is refused says why in detail, and to programs in error.code.",
    ["What moves money may be sent again with the same ", el("code", {textContent: "Idempotency-Key"}), ": it is done once and answered alike."],
    "Ids are 24 hexadecimal digits, instants RFC 3339 in UTC. Each field says in which unit its money is."),
  tokenForm());

const groupView = ({tag, all}) => el("div", {}, el("h1", {textContent: tag.name}), prose(tag.description || "", {className: "soft"}), ...all.map(operationView));

const start = (groups) => {
  const content = document.getElementById("content"), box = document.getElementById("groups"), search = document.getElementById("search");
  const narrow = matchMedia("(max-width: 820px)"), index = document.getElementById("index");
  let current = null;
  const links = [...groups.values()].map((group) => {
    const items = group.all.map((one) => [one, el("li", {}, el("a", {href: "#" + one.op.operationId}, el("span", {className: "method " + one.method, textContent: one.method.toUpperCase()}), el("span", {textContent: one.op.summary})))]);
    const section = el("section", {}, el("h2", {}, el("a", {href: "#" + encodeURIComponent(group.tag.name), textContent: group.tag.name})), el("ul", {}, ...items.map(([, item]) => item)));
    box.append(section);
    return {section, items};
  });
  const none = el("p", {className: "soft hidden", textContent: "No operation matches."});
  box.append(none);
  const filter = () => {
    const words = search.value.trim().toLowerCase().split(/\s+/);
    let found = 0;
    for (const {section, items} of links) {
      let here = 0;
      for (const [one, item] of items) {
        const fits = words.every((word) => one.words.includes(word));
        item.classList.toggle("hidden", !fits);
        here += fits;
      }
      section.classList.toggle("hidden", !here);
      found += here;
    }
    none.classList.toggle("hidden", found > 0);
    if (search.value) index.open = true;
  };
  const show = () => {
    const at = decodeURIComponent(location.hash.slice(1));
    const group = groups.get(at) || [...groups.values()].find(({all}) => all.some(({op}) => op.operationId === at)) || null;
    if (group !== current || !content.childElementCount) content.replaceChildren(group ? groupView(group) : startView());
    current = group;
    for (const {items} of links) for (const [one, item] of items) one.op.operationId === at ? item.firstChild.setAttribute("aria-current", "true") : item.firstChild.removeAttribute("aria-current");
    const article = group && document.getElementById(at);
    if (narrow.matches && group) index.open = false;
    if (article) article.scrollIntoView(); else scrollTo(0, 0);
  };
  index.open = !narrow.matches;
  search.addEventListener("input", filter);
  addEventListener("hashchange", show);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    search.focus();
  });
  show();
};

fetch("openapi.json").then((response) => response.json()).then((read) => {
  api = read;
  document.getElementById("state").remove();
  start(operations());
}).catch(() => { document.getElementById("state").textContent = "The description of the API could not be read."; });
