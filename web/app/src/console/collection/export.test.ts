import { expect, it, vi } from 'vitest';
import type { Page, PageQuery } from '../../api/client';
import type { Property } from '../../api/document';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('navigator', { languages: ['pt-BR'] });
vi.stubGlobal('document', { documentElement: { lang: '' } });
vi.stubGlobal('location', { href: 'http://localhost/console/', pathname: '/console/', search: '' });
vi.stubGlobal('window', { addEventListener: () => undefined });
vi.stubGlobal('history', {});
vi.stubGlobal('addEventListener', () => undefined);
vi.stubGlobal('BroadcastChannel', class { postMessage() { return undefined; } });
const { collectionSource, exactSort, exportList, fileName, line, neutral } = await import('./export');
const { language } = await import('../messages/index.svelte');

type Row = Record<string, unknown>;
const field = (name: string, kind: Property['kind']): Property =>
  ({ name, kind, values: [], required: true, nullable: true, readOnly: false, schema: {} });
const columns = [
  field('full_name', 'text'), field('status', 'enum'), field('amount', 'number'), field('ratio', 'number'),
  field('created_at', 'instant'), field('expires_at', 'instant'), field('tax_id', 'text'), field('phone', 'text'),
  field('enable', 'boolean'), field('labels', 'list'), field('address', 'json'),
];
const row: Row = {
  _id: '1', full_name: '=HYPERLINK("http://evil";"x")', status: 'active', amount: -123456, ratio: -1.5,
  created_at: '2026-03-05T02:04:06.789Z', expires_at: '2026-03-05T02:04:06.789Z', tax_id: '52998224725', phone: '+5511987654321',
  enable: true, labels: ['a', 'b;c'], address: { city: 'São Paulo' },
};

/** A collection of some rows, by pages of 1,000; asked are the questions that it was asked. */
function collection(rows: Row[], asked: PageQuery[] = []) {
  return (_: string, ask: PageQuery): Promise<Page<Row>> => {
    asked.push(ask);
    return Promise.resolve({
      docs: rows.slice(ask.page * ask.size, (ask.page + 1) * ask.size),
      pagination: { current_page: ask.page, qty_docs_page: ask.size, qty_of_pages: 0, qty_total_docs: rows.length },
    });
  };
}

it.each([
  ['pt', '\ufeff"Nome";"Situação";"Valor";"Ratio";"Criado";"Acesso até";"CPF/CNPJ";"Telefone";"Pode entrar";"Etiquetas";"Endereço"\r\n'
    + '"\'=HYPERLINK(""http://evil"";""x"")";"ativa";"-1234,56";"-1,5";"04/03/2026 23:04:06";"04/03/2026";"529.982.247-25";"+5511987654321";"sim";"a, b;c";"{""city"":""São Paulo""}"\r\n'],
  ['en', '\ufeff"Name","Status","Amount","Ratio","Created","Access until","Tax id","Phone","May sign in","Labels","Address"\r\n'
    + '"\'=HYPERLINK(""http://evil"";""x"")","active","-1234.56","-1.5","2026-03-04 23:04:06","2026-03-04","529.982.247-25","+5511987654321","yes","a, b;c","{""city"":""São Paulo""}"\r\n'],
] as const)('a file in %s, byte by byte', async (locale, want) => {
  language.use(locale);
  const source = collectionSource('/api/v1/customers', {}, columns, collection([row]));
  const parts = await exportList(source, new AbortController().signal, () => undefined);
  expect(parts.join('')).toBe(want);
});

it('what a spreadsheet would compute is text, and signed numbers stay numbers', () => {
  for (const text of ['=1+1', '+1+1', '-2+3', '@SUM(A1)', '\t=1', '\r=1', '\n=1', ' =1', '\u00a0+x', '\u200b@x', '＝1', '－1-1', '-', '+1,2,3', '-1.2.3']) {
    expect(neutral(text), JSON.stringify(text)).toBe(`'${text}`);
  }
  for (const text of ['', 'a=1', '-12.5', '-12,5', '+5511987654321', '1-1', 'x', '2026-03-04', ' x']) {
    expect(neutral(text), JSON.stringify(text)).toBe(text);
  }
  language.use('en');
  expect(line(['', 'a"b', 'two\nlines'])).toBe('"","a""b","two\nlines"\r\n');
});

it('all pages are read, the id is the last key, and what moved on comes once', async () => {
  const rows = Array.from({ length: 2500 }, (_, i) => ({ _id: String(i), full_name: `n${String(i)}` }));
  rows.splice(1000, 0, ...rows.slice(998, 1000)); // two rows came before while the first page was read
  const asked: PageQuery[] = [];
  const told: string[] = [];
  const source = collectionSource('/x', { query: '{"a":1}', sort: '{"full_name":-1}' }, columns.slice(0, 1), collection(rows, asked));
  const parts = await exportList(source, new AbortController().signal, ({ done, total }) => { told.push(`${String(done)}/${String(total)}`); });
  const lines = parts.join('').split('\r\n').slice(1, -1);
  expect(lines).toHaveLength(2500);
  expect(new Set(lines).size).toBe(2500);
  expect(asked.map(({ page, size, sort, query }) => [page, size, sort, query])).toEqual([0, 1, 2].map((page) =>
    [page, 1000, '{"full_name":-1,"_id":1}', '{"a":1}']));
  expect(told).toEqual(['1000/2502', '1998/2502', '2500/2502']);
});

it('an order that nobody chose is the API’s, and one by the id stays as it is', () => {
  expect(exactSort(undefined)).toBeUndefined();
  expect(exactSort('')).toBe('');
  expect(exactSort('{"_id":-1}')).toBe('{"_id":-1}');
});

it('who stops gets no file', async () => {
  const rows = Array.from({ length: 2500 }, (_, i) => ({ _id: String(i) }));
  const stop = new AbortController();
  const source = collectionSource('/x', {}, columns, collection(rows));
  let pages = 0;
  await expect(exportList(source, stop.signal, () => { pages++; stop.abort(); })).rejects.toThrow('abort');
  expect(pages).toBe(1);
});

it('a file is named by its list and day', () => {
  expect(fileName('Trilha de auditoria: ações', '2026-03-04')).toBe('trilha-de-auditoria-acoes-2026-03-04.csv');
});
