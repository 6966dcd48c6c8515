import { createHmac } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { expectNoFaults, signedIn, visit } from './browser';
import { asRoot, signUp, tokenOf } from './people';

const { webhooks, url, users } = inject('platform');

// What would do something if it were anything but text: to HTML, attributes, addresses, styles, scripts and templates, to
// formats, spreadsheets and shells, and to whoever reads it.
const hostile = [
  '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>', "'><iframe src=javascript:alert(1)>",
  '<style>*{display:none}</style>', '<base href=//evil.example>', '<meta http-equiv=refresh content=0>', '<form action=//evil.example>',
  '</td></tr></table><h1>x', '<!--', '-->', '<![CDATA[x]]>', '</textarea><script>1</script>', '</title><script>1</script>',
  '" onmouseover="alert(1)', "' autofocus onfocus='alert(1)", '` onclick=alert(1) `', 'javascript:alert(1)', 'data:text/html,<b>x',
  '//evil.example/x', '{{constructor.constructor("alert(1)")()}}', '${alert(1)}', '{@html "<b>x</b>"}', '#{7*7}', '<%= 7*7 %>',
  '&lt;b&gt;x&lt;/b&gt;', '&#60;b&#62;', '\\u003cb\\u003e', '%3Cscript%3E', '__proto__', 'constructor', "'; DROP TABLE x; --",
  '=HYPERLINK("http://evil.example")', '$(touch /tmp/x)', '../../etc/passwd', 'a‮gnp.exe', 'Z̸̡͎a̴l̶g̷o', '👩‍👩‍👧‍👦 ﷽', 'ＡＢＣ ß İ ı', 'x'.repeat(90),
];

it('there are forty', () => { expect(new Set(hostile).size).toBe(40); });

/** The texts that a page shows, each of an element by itself. */
const textsOf = (page: Page): Promise<string[]> => page.evaluate(() =>
  [...document.querySelectorAll('main *, [role="dialog"] *')].map((element) => element.textContent.trim()));

/** What came of them as elements: none of these is in a page of the console otherwise. */
const strangers = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll(
  'main :is(script, img, iframe, style, base, meta, form[action]), [onload], [onerror], [onclick], [onfocus], [onmouseover]').length);

async function expectTexts(page: Page, texts: string[]) {
  await expect.poll(async () => {
    const found = new Set(await textsOf(page));
    return texts.filter((text) => !found.has(text));
  }).toEqual([]);
  expect(await strangers(page)).toBe(0);
  expect(await page.title()).toContain('Marquee');
}

/** Those that the API takes for a name. */
async function taken(take: (text: string, i: number) => Promise<unknown>): Promise<string[]> {
  const once = async (text: string, i: number): Promise<string[]> => {
    try {
      await take(text, i);
      return [text];
    } catch (cause) {
      if (String(cause).includes('SERVICE_BUSY')) return once(text, i); // forty at once are many for a busy machine
      expect(String(cause)).toMatch(/: 422 /);
      return [];
    }
  };
  const all = await Promise.all(hostile.map(once));
  return all.flat();
}

it('a payload is a tree of texts', async () => {
  const id = `evt_hostile_${String(Date.now())}`;
  const at = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    object: 'event', id, type: hostile[0], created: at, livemode: false, api_version: '2026-03-25.dahlia',
    data: { object: { id: 'x', values: hostile, names: Object.fromEntries(hostile.filter((text) => text !== '__proto__').map((text) => [text, 1])) } },
  });
  const mac = createHmac('sha256', webhooks.gwb_secret).update(`${String(at)}.${body}`).digest('hex');
  const sent = await fetch(`${url}/webhooks/gwb`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', 'Stripe-Signature': `t=${String(at)},v1=${mac}` }, body,
  });
  expect(sent.status).toBe(200);
  const { docs } = await asRoot<{ docs: { _id: string }[] }>('GET', `/webhook-logs?query=${encodeURIComponent(JSON.stringify({ event_id: id }))}`);
  const page = await signedIn('admin', {}, `/console/webhooks/${docs[0]?._id ?? ''}`);
  await page.getByRole('heading', { name: hostile[0] }).waitFor();
  await page.getByRole('button', { name: 'Open all' }).click();
  await expectTexts(page, hostile.map((text) => `“${text}”`));
  await page.goto(`/console/webhooks?query=${encodeURIComponent(JSON.stringify({ event_type: hostile[0] }))}`);
  await expectTexts(page, [hostile[0] ?? '']);
  expectNoFaults(page.context());
});

it('names and titles are texts in lists, on pages, in forms, in the search and in the audit trail', async () => {
  const stamp = String(Date.now());
  const plans = await taken((name, i) => asRoot('POST', '/plans', [{
    plan_id: `h${stamp}-${String(i)}`, name, description: name, amount: 1000, tier: 1, is_active: false,
  }]));
  expect(plans.length).toBeGreaterThan(30);
  const page = await signedIn('root', {}, `/console/settings/plans?size=100&query=${encodeURIComponent(JSON.stringify({ plan_id: { $regex: `^h${stamp}` } }))}`);
  await expectTexts(page, plans);
  await page.getByRole('link', { name: plans[0], exact: true }).click();
  await expect.poll(() => page.getByRole('dialog').getByLabel('Name').inputValue()).toBe(plans[0]);
  expect(await strangers(page)).toBe(0);
  await page.keyboard.press('Escape');

  const { docs: entries } = await asRoot<{ docs: { _id: string; after: { name?: string } }[] }>(
    'GET', `/audit-log?query=${encodeURIComponent(JSON.stringify({ resource: 'plans' }))}&qty_docs_page=100`);
  const entry = entries.find(({ after }) => after.name === plans[0]);
  await page.goto(`/console/settings/audit/${entry?._id ?? ''}`);
  await expectTexts(page, [`“${plans[0] ?? ''}”`]);

  // Names of people are held to more than those of plans.
  const people: { id: string; name: string }[] = [];
  await taken(async (name) => { people.push(await signUp(name)); });
  expect(people.length).toBeGreaterThan(0);
  for (const { id, name } of people.slice(0, 5)) {
    await page.goto(`/console/customers/${id}`);
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await expectTexts(page, [name]);
  }

  const titles = await taken((title, i) => asRoot('POST', '/videos', [{
    title, slug: `h${stamp}-${String(i)}`, video_id: 'https://videos.example.com/1', duration: 90, release_date: '2024-01-02',
  }]));
  expect(titles.length).toBeGreaterThan(30);
  for (const title of titles.slice(0, 5)) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(title);
    await page.getByRole('status').getByText(/result|Nothing/).waitFor();
    expect(await strangers(page)).toBe(0);
    await page.keyboard.press('Escape');
  }
  expectNoFaults(page.context());
});

it('names of files are texts in the audit trail', async () => {
  const { docs: [column] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/admin/requisition-status', [{ name: `Files ${String(Date.now())}` }]);
  const { docs: [card] } = await asRoot<{ docs: { _id: string }[] }>('POST', '/admin/requisitions', [{ name: 'Files', status_id: column?._id }]);
  const token = await tokenOf(users.root);
  const names: string[] = [];
  for (const name of hostile) {
    const form = new FormData();
    form.append('file', new Blob(['x']), name);
    const response = await fetch(`${url}/api/v1/admin/requisitions/${card?._id ?? ''}/files`, {
      method: 'POST', headers: { Authorization: `Bearer ${token}` }, body: form,
    });
    expect([200, 422]).toContain(response.status);
    if (!response.ok) continue;
    const { docs } = (await response.json()) as { docs: { files: { filename: string }[] }[] };
    names.push(docs[0]?.files.at(-1)?.filename ?? '');
  }
  expect(names.length).toBeGreaterThan(30);
  const { docs: entries } = await asRoot<{ docs: { _id: string; action: string }[] }>(
    'GET', `/audit-log?query=${encodeURIComponent(JSON.stringify({ record_id: card?._id, action: 'requisition_file_upload' }))}&qty_docs_page=1`);
  const page = await signedIn('root', {}, `/console/settings/audit/${entries[0]?._id ?? ''}`); // the last, with all of them
  await page.locator('main .title, main h1').first().waitFor();
  const closed = page.locator('main button[aria-expanded="false"]');
  await expect.poll(() => page.locator('main button[aria-expanded]').count()).toBeGreaterThan(0);
  while (await closed.count()) await closed.first().click();
  await expectTexts(page, names.map((name) => `“${name}”`));
  expectNoFaults(page.context());
});

it('what stands in the address is text too', async () => {
  const page = await signedIn('root');
  for (const text of hostile.slice(0, 20)) {
    const value = encodeURIComponent(text);
    await visit(page, `/customers?q=${value}&columns=${value}&query=${encodeURIComponent(JSON.stringify({ full_name: text }))}&sort=${value}`);
    await page.getByText(`Name is ${text}`).waitFor();
    expect(await strangers(page)).toBe(0);
  }
  // And of a page that is loaded by it.
  await page.goto(`/console/customers?q=${encodeURIComponent(hostile[1] ?? '')}&query=${encodeURIComponent(JSON.stringify({ full_name: hostile[0] }))}`);
  await page.getByText(`Name is ${hostile[0] ?? ''}`).waitFor();
  expect(await strangers(page)).toBe(0);
  await page.goto(`/console/customers/${encodeURIComponent(hostile[1] ?? '')}`);
  await page.locator('main .title').waitFor();
  expect(await strangers(page)).toBe(0);
  expectNoFaults(page.context());
});
