import { answer, api } from './client';
import { session } from './session.svelte';

// What the member of staff may do, as far as their profiles say: the handlers of the routes that demand one.

let held = $state.raw<ReadonlySet<string>>();
let reading: Promise<void> | undefined;
let of = ''; // whose they are

export const rights = {
  /** Reads them, once for each who signs in; root has all without asking. */
  async load(): Promise<void> {
    const { member } = session;
    if (!member || member.root || (of === member.id && held)) return;
    if (of !== member.id) {
      of = member.id;
      held = undefined;
      reading = undefined;
    }
    reading ??= answer(api.GET('/api/v1/routes')).then(({ routes }) => {
      held = new Set(routes.filter(({ permission, allowed }) => permission && allowed).map(({ permission }) => permission));
    }).finally(() => { reading = undefined; });
    await reading;
  },

  /** Whether they are known. */
  get known(): boolean { return session.member?.root === true || held !== undefined; },

  /** Whether one may call what demands this handler; not while nothing is known. */
  may(handler: string): boolean { return session.member?.root === true || (held?.has(handler) ?? false); },
};
