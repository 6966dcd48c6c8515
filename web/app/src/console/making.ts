import { router } from './router.svelte';

/** What is being made on a list's page, by its address: ?new=, so that a link and the search lead to its form. */
export const making = {
  get what(): string { return router.params.get('new') ?? ''; },
  use(what = '1') { router.set({ new: what }); },
  end() { if (this.what) router.set({ new: undefined }, true); },
};
