/** What the API refused, or that it could not be reached: status 0. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    sentence: string,
    readonly fields: Record<string, string>,
    readonly requestId: string,
    readonly read = false, // it was asked for something, not to change anything
  ) {
    super(sentence);
  }

  /** The record was changed after it was read as of the date that was sent. */
  get stale(): boolean { return this.status === 409 && 'register_update_date' in this.fields; }

  /** The request never came to an answer, so that nothing is known of it. */
  get unanswered(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 504;
  }

  /** It says nothing about what was asked: there was no answer, or the API was too busy, or at fault itself. */
  get passing(): boolean { return this.unanswered || this.status === 429 || this.status >= 500; }
}

interface Finding { loc?: unknown[]; msg?: string }
interface ErrorBody {
  detail?: string | Finding[];
  error?: { code?: string; message?: string; field?: string };
}

const reads = new WeakSet<Response>();

/** Notes that nothing was to be changed by what is answered. */
export function ofRead(response: Response) { reads.add(response); }

/** The Problem that an answer tells of, in whichever of the two forms; first is what came, where this is a copy of it. */
export async function problemOf(response: Response, first = response): Promise<Problem> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const fields: Record<string, string> = {};
  if (Array.isArray(body.detail)) {
    for (const { loc = [], msg = '' } of body.detail) {
      const path = loc.slice(1).filter((step) => typeof step === 'string');
      const name = path.join('.');
      if (name && !(name in fields)) fields[name] = msg;
    }
  }
  const sentence = body.error?.message ?? (typeof body.detail === 'string' ? body.detail : response.statusText);
  if (body.error?.field && !(body.error.field in fields)) fields[body.error.field] = sentence;
  return new Problem(
    response.status, body.error?.code ?? '', sentence, fields, response.headers.get('X-Request-Id') ?? '',
    reads.has(first),
  );
}
