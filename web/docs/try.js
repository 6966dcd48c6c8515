// The token is kept in this page alone: it is gone with the page, and sent nowhere but to this server.
let token = "";

const jsonType = "application/json", formType = "application/x-www-form-urlencoded", multipartType = "multipart/form-data";

const field = (label, input) => el("label", {className: "field"}, el("span", {textContent: label}), input);

// tokenForm takes a token, or the login with which one is asked for.
const tokenForm = () => {
  const said = el("p", {className: "soft", attributes: {role: "status"}});
  const own = el("input", {type: "password", autocomplete: "off", value: token});
  const login = el("input", {autocomplete: "username"}), password = el("input", {type: "password", autocomplete: "current-password"});
  const code = el("input", {autocomplete: "one-time-code", spellcheck: false});
  const second = field("Code of the second factor", code);
  second.classList.add("hidden");
  const keep = (value) => {
    token = value.trim();
    said.textContent = token ? "Operations below are called with this token." : "Operations are called without a token.";
  };
  own.addEventListener("input", () => keep(own.value));
  const form = el("form", {className: "try"}, el("h3", {textContent: "Try it with your own token"}),
    el("div", {className: "fields"}, field("Username or e-mail", login), field("Password", password), second),
    el("div", {className: "row"}, el("button", {className: "primary", textContent: "Sign in"})),
    el("p", {className: "soft", textContent: "Or paste an access token:"}), field("Access token", own), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const sent = new URLSearchParams({username: login.value, password: password.value});
      if (code.value.trim()) sent.set("totp", code.value.trim());
      const response = await fetch("/api/v1/token", {method: "POST", body: sent});
      const answer = await response.json();
      if (!response.ok && answer.error && answer.error.code === "MFA_REQUIRED") {
        second.classList.remove("hidden");
        code.focus();
      }
      if (!response.ok) throw new Error(typeof answer.detail === "string" ? answer.detail : "That did not work.");
      own.value = answer.access_token;
      password.value = code.value = "";
      second.classList.add("hidden");
      keep(answer.access_token);
    } catch (error) {
      said.textContent = error.message;
    }
  });
  if (token) keep(token);
  return form;
};

// bodyInput is where a body is written, and how it is read.
const bodyInput = (content) => {
  const type = [jsonType, formType, multipartType].find((known) => content[known]);
  if (!type) return null;
  const media = content[type], example = media.example;
  if (type === jsonType) {
    const area = el("textarea", {value: example === undefined ? "" : pretty(example), spellcheck: false});
    return {node: field("Body", area), read: () => ({body: area.value, type})};
  }
  const inputs = Object.keys(inner(media.schema).properties).map((name) => {
    const secret = name.includes("password") ? "password" : "text";
    return [name, el("input", type === multipartType ? {type: "file"} : {type: secret, value: secret === "text" && example ? example[name] || "" : ""})];
  });
  return {
    node: el("div", {className: "fields"}, ...inputs.map(([name, input]) => field(name, input))),
    read: () => {
      const form = type === multipartType ? new FormData() : new URLSearchParams();
      for (const [name, input] of inputs) form.append(name, type === multipartType && input.files.length ? input.files[0] : input.value);
      return {body: form};
    },
  };
};

const quote = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

const curl = (request) => ["curl", request.method === "GET" ? "" : "-X " + request.method, quote(location.origin + request.address),
  request.headers.Authorization ? "-H \"Authorization: Bearer $TOKEN\"" : "",
  request.headers["Content-Type"] ? "-H " + quote("Content-Type: " + request.headers["Content-Type"]) : "",
  typeof request.body === "string" ? "-d " + quote(request.body) : request.body instanceof URLSearchParams ? "-d " + quote(String(request.body)) : "",
].filter(Boolean).join(" ");

// shown is an answer: text as it is, anything else to be saved.
const shown = async (response) => {
  const type = response.headers.get("Content-Type") || "";
  if (type.startsWith("application/json") && !response.headers.get("Content-Disposition")) {
    const text = await response.text();
    try { return el("pre", {textContent: pretty(JSON.parse(text)), tabIndex: 0}); } catch { return el("pre", {textContent: text, tabIndex: 0}); }
  }
  const blob = await response.blob();
  if (!blob.size) return "";
  return el("a", {href: URL.createObjectURL(blob), download: "answer", textContent: "Save the answer: " + type + ", " + blob.size + " bytes"});
};

// tryForm calls the operation on this server.
const tryForm = (method, path, op) => {
  const parameters = (op.parameters || []).map(resolve).filter((p) => p.in === "path" || p.in === "query");
  const inputs = parameters.map((p) => [p, el("input", {required: p.in === "path" || Boolean(p.required), autocomplete: "off", spellcheck: false})]);
  const body = op.requestBody ? bodyInput(resolve(op.requestBody).content) : null;
  const result = el("div", {className: "result", attributes: {"aria-live": "polite"}});
  const request = () => {
    let address = path;
    const query = new URLSearchParams(), headers = {};
    for (const [p, input] of inputs) {
      if (p.in === "path") address = address.replace("{" + p.name + "}", encodeURIComponent(input.value));
      else if (input.value) query.set(p.name, input.value);
    }
    if (String(query)) address += "?" + query;
    if (token && op.security.length) headers.Authorization = "Bearer " + token;
    const sent = body ? body.read() : {};
    if (sent.type && sent.body) headers["Content-Type"] = sent.type;
    return {method: method.toUpperCase(), address, headers, body: sent.body || undefined};
  };
  const form = el("form", {className: "try"}, el("h3", {textContent: "Try it"}),
    el("div", {className: "fields"}, ...inputs.map(([p, input]) => field(p.name + (input.required ? "" : ", optional"), input))), body ? body.node : "",
    el("div", {className: "row"}, el("button", {className: "primary", textContent: "Send " + method.toUpperCase()}),
      method === "get" ? "" : el("span", {className: "soft", textContent: "This changes what is on this server."})), result);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const sent = request(), began = performance.now();
    const command = el("pre", {textContent: curl(sent), tabIndex: 0});
    result.replaceChildren(command, el("p", {textContent: "Sent…"}));
    try {
      const response = await fetch(sent.address, {method: sent.method, headers: sent.headers, body: sent.body});
      const took = Math.round(performance.now() - began);
      result.replaceChildren(command, el("p", {}, el("strong", {textContent: response.status + " " + response.statusText}),
        el("span", {className: "soft", textContent: " in " + took + " ms · request " + (response.headers.get("X-Request-Id") || "")})), await shown(response));
    } catch {
      result.replaceChildren(command, el("p", {textContent: "The server did not answer."}));
    }
  });
  return form;
};
