// A story through the generated client, without a cast: what does not compile here does not compile for anybody.
import createClient, { type Middleware } from "openapi-fetch";
import type { paths, components } from "./api.js";

declare const process: { argv: string[]; exitCode: number };

function assert(fact: unknown, what: string): asserts fact {
  if (!fact) throw new Error(what);
}

// refusal reads what every refused operation answers.
const refusal = (error: components["schemas"]["Error"]): string =>
  typeof error.detail === "string" ? error.detail : error.detail.map((issue) => `${issue.loc.join(".")} ${issue.msg}`).join("; ");

async function story(baseUrl: string): Promise<void> {
  const api = createClient<paths>({ baseUrl });
  const form = { headers: { "Content-Type": "application/x-www-form-urlencoded" } };
  const signup = await api.POST("/api/v1/customers/signup", {
    body: [{
      username: "tereza", email: "tereza@example.com", password: "a long password", full_name: "Tereza Souza",
      phone: "+5511987654321", tax_id: "52998224725", verify_email_now: false,
    }],
  });
  assert(signup.data, signup.error ? refusal(signup.error) : "signed up");

  const wrong = await api.POST("/api/v1/token", {
    ...form, body: { username: "tereza", password: "not this one" }, bodySerializer: (body) => new URLSearchParams(body),
  });
  assert(wrong.error, "a wrong password is refused");
  assert(wrong.error.error?.code === "INVALID_CREDENTIALS", refusal(wrong.error));

  const login = await api.POST("/api/v1/token", {
    ...form, body: { username: "tereza", password: "a long password" }, bodySerializer: (body) => new URLSearchParams(body),
  });
  assert(login.data, "signed in");
  const token: string = login.data.access_token;
  const signedIn: Middleware = { onRequest: ({ request }) => { request.headers.set("Authorization", `Bearer ${token}`); } };
  api.use(signedIn);

  const query = { params: { query: { query: JSON.stringify({ enable: true }), sort: JSON.stringify({ title: 1 }), qty_docs_page: 3 } } };
  const closed = await api.GET("/api/v1/videos", query);
  assert(closed.error && closed.response.status === 403, "videos are closed without a subscription");

  const plans = await api.GET("/api/v1/plans", {});
  const plan = plans.data?.docs.find((one) => one.plan_id === "plus");
  assert(plan, "plus is on offer");
  const price: number = plan.amount;

  const subscribed = await api.POST("/api/v1/gwb/subscribe", { body: { plan_id: plan.plan_id, payment_method_id: "pm_card_visa" } });
  assert(subscribed.data, subscribed.error ? refusal(subscribed.error) : "subscribed");
  const status: "succeeded" | "requires_action" | "requires_payment_method" | "unknown" | undefined = subscribed.data.info.payment_status;
  const secret: string | null = subscribed.data.info.client_secret;
  assert(status === "succeeded" && secret === null && price > 0, `paid: ${status}`);

  const mine = await api.GET("/api/v1/customers/me/subscription", {});
  const info: Record<string, never> | null | undefined = mine.data?.info;
  assert(info === null, "info is null there");

  const again = await api.POST("/api/v1/gwb/subscribe", { body: { plan_id: "plus", payment_method_id: "pm_card_visa" } });
  assert(again.error && again.response.status === 409, "one subscription at a time");
  const field = await api.POST("/api/v1/gwb/subscribe", { body: { plan_id: "", payment_method_id: "pm_card_visa" } });
  assert(field.error?.error?.field === "plan_id", "the field that is wrong is named");

  const videos = await api.GET("/api/v1/videos", query);
  assert(videos.data, "videos are open");
  const titles: string[] = videos.data.docs.map((video) => video.title);
  assert(titles.length === 3 && videos.data.pagination.qty_total_docs >= 3, titles.join());
}

story(process.argv[2] ?? "").then(() => console.log("done"), (error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
