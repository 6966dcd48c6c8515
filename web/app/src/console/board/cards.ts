import { answer, api, readPage, type Got } from '../../api/client';
import type { Tone } from '../../ui/Status.svelte';
import { saveRecord } from '../form/record';

export type Card = Got<'/api/v1/admin/requisitions'>['docs'][number];
export type Column = Got<'/api/v1/admin/requisition-status'>['docs'][number];

/** A file on a card. */
export interface Attachment { file_id: string; filename: string; content_type: string; size: number }

/** A card in its lane; the library of the board wants an id of that name. */
export interface Item { id: string; card: Card }

/** A column with the page of its cards that is shown, and how many it has. */
export interface Lane { id: string; column: Column; items: Item[]; total: number; page: number }

export const CARDS = '/api/v1/admin/requisitions';
export const COLUMNS = '/api/v1/admin/requisition-status';

/** As many cards as all lanes show together at most. */
const SHOWN = 160;

/** The priorities by convention, the most urgent first. */
export const priorities = ['urgent', 'high', 'medium', 'low'];

const tones: Record<string, Tone> = { urgent: 'bad', high: 'warn', medium: 'idle', low: 'idle' };
export function toneOfPriority(priority: string): Tone { return tones[priority] ?? 'idle'; }

export function filesOf(card: Card): Attachment[] { return Array.isArray(card.files) ? (card.files as Attachment[]) : []; }

/** How many cards a lane shows at once, of so many lanes. */
export function sizeOfLane(lanes: number): number { return Math.max(5, Math.min(25, Math.floor(SHOWN / Math.max(lanes, 1)))); }

/** What narrows the cards that are shown. */
export interface Narrowing { priority?: string | undefined; by?: string | undefined; text?: string | undefined }

function filterOf({ priority, by, text }: Narrowing): Record<string, unknown> {
  return {
    ...(priority && { priority }), ...(by && { document_created_by_id: by }),
    ...(text && { name: { $regex: text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), $options: 'i' } }),
  };
}

/** The cards of a column, those that changed last first. */
export async function readLane(column: Column, narrowing: Narrowing, page: number, size: number, signal: AbortSignal): Promise<Lane> {
  const query = JSON.stringify({ status_id: column._id, ...filterOf(narrowing) });
  const { docs, pagination } = await answer(api.GET('/api/v1/admin/requisitions', {
    params: { query: { query, qty_docs_page: size, current_page: page } }, signal,
  }));
  const last = Math.max(0, pagination.qty_of_pages - 1);
  if (page > last) return readLane(column, narrowing, last, size, signal);
  return { id: column._id, column, items: docs.map((card) => ({ id: card._id, card })), total: pagination.qty_total_docs, page };
}

/** The columns in their order. */
export async function readColumns(signal: AbortSignal): Promise<Column[]> {
  return (await answer(api.GET('/api/v1/admin/requisition-status', { params: { query: { qty_docs_page: 100 } }, signal }))).docs;
}

/** What differs once any card or column has changed. */
export async function stateOf(signal: AbortSignal): Promise<string> {
  const [cards, columns] = await Promise.all([readPage(CARDS, { page: 0, size: 1 }, signal), readColumns(signal)]);
  const [newest] = cards.docs;
  return JSON.stringify([cards.pagination.qty_total_docs, newest?.['_id'], newest?.['register_update_date'], columns]);
}

/** Moves a card to a column. The answer is why it did not move, where somebody else moved it meanwhile. */
export async function moveCard(card: Card, column: string): Promise<{ card: Card } | { says: string }> {
  const done = await saveRecord(CARDS, { ...card }, { ...card, status_id: column }, ['status_id']);
  return 'conflict' in done ? { says: done.conflict.says } : { card: done.saved as unknown as Card };
}

/** Writes the order of columns, of those whose place differs. */
export async function orderColumns(columns: Column[]): Promise<void> {
  const moved = columns.map((column, index) => ({ column, index })).filter(({ column, index }) => column.index !== index);
  if (!moved.length) return;
  await answer(api.PUT('/api/v1/admin/requisition-status', {
    body: moved.map(({ column, index }) => ({ _id: column._id, register_update_date: column.register_update_date, index })),
  }));
}
