import createClient, { type Client } from 'openapi-fetch';
import { problemOf } from './problem';
import { reach } from './reach';
import type { paths, Readable } from './schema';
import { session } from './session.svelte';

export type { paths } from './schema';

/** Sends with the session's token; a lost session is taken up again, and reads wait for a lost connection. */
async function send(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await reach(session.authorize(request));
  if (!(await refusesToken(response))) return response;
  if (!(await session.renew())) return response;
  return reach(session.authorize(again));
}

/** Sends any request so. */
export const sendAsked = send;

/** 403 without a code is the API's word about the token itself, 401 without one that there is none. */
async function refusesToken(response: Response): Promise<boolean> {
  if (response.status !== 403) return false;
  const body = (await response.clone().json().catch(() => ({}))) as { error?: unknown; detail?: unknown };
  return body.error === undefined && typeof body.detail === 'string' && body.detail.includes('token');
}

export const api: Client<paths> = createClient<paths>({ fetch: send, headers: { Accept: 'application/json' } });

/** The body of a call that went well. It throws the Problem of one that did not. */
export async function answer<T>(call: Promise<{ data?: T; response: Response; error?: unknown }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  const body = JSON.stringify(error ?? {});
  throw await problemOf(new Response(body, {
    status: response.status, statusText: response.statusText, headers: response.headers,
  }), response);
}

/** The body of 200 that GET of a path answers. */
export type Got<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer B } } } };
} ? Readable<B> : never;

export interface Page<T> {
  docs: T[];
  pagination: { current_page: number; qty_docs_page: number; qty_of_pages: number; qty_total_docs: number };
  total?: number; // of those, what a bulk act may be done to, where that is not all
}

export interface PageQuery { query?: string; sort?: string; q?: string; page: number; size: number }

/** A page of any collection, for tables that know its shape from the API's document alone. */
export async function readPage(path: string, ask: PageQuery, signal?: AbortSignal): Promise<Page<Record<string, unknown>>> {
  const response = await send(new Request(listAddress(path, ask), { headers: { Accept: 'application/json' }, signal: signal ?? null }));
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as Page<Record<string, unknown>>;
}

/** The text of a file of the API. */
export async function readText(path: string): Promise<string> {
  const response = await send(new Request(path));
  if (!response.ok) throw await problemOf(response);
  return response.text();
}

/** The bytes of a file of the API, with its type. */
export async function readBlob(path: string, signal?: AbortSignal): Promise<Blob> {
  const response = await send(new Request(path, { signal: signal ?? null }));
  if (!response.ok) throw await problemOf(response);
  return response.blob();
}

/** Sends a file as a form does. */
export async function sendFile(path: string, file: Blob, name: string): Promise<unknown> {
  const body = new FormData();
  body.append('file', file, name);
  const response = await send(new Request(path, { method: 'POST', body, headers: { Accept: 'application/json' } }));
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

/** The address of such a page, as one would give it to curl. */
export function listAddress(path: string, { query, sort, q, page, size }: PageQuery): string {
  const params = new URLSearchParams();
  if (q) params.set('q', q);
  if (query) params.set('query', query);
  if (sort) params.set('sort', sort);
  params.set('qty_docs_page', String(size));
  params.set('current_page', String(page));
  return `${path}?${params.toString()}`;
}

/** Sends a body to any path and method; for forms that know the shape from the API's document alone. */
export async function sendBody(method: string, path: string, body?: unknown, key?: string): Promise<unknown> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (key) headers['Idempotency-Key'] = key;
  const response = await send(new Request(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) }));
  if (!response.ok) throw await problemOf(response);
  return response.json();
}
