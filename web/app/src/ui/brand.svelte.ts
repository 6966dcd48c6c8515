import mark from './mark.svg';
import { keptForAll } from './storage';

// What the platform is called and looks like. The last that was seen is shown at once, so that nothing changes before
// one's eyes; of a browser that has seen none the name stays empty until it is known.

interface Brand { name: string; logo: string | null }

const KEY = 'brand';

function kept(): Brand {
  try {
    const { name, logo } = JSON.parse(keptForAll.get(KEY) ?? '{}') as Partial<Brand>;
    return { name: typeof name === 'string' ? name : '', logo: typeof logo === 'string' && logo.startsWith('/') ? logo : null };
  } catch { return { name: '', logo: null }; }
}

let shown = $state.raw(kept());

export const brand = {
  get name() { return shown.name; },
  /** The address of the logo, or of Marquee's mark. */
  get logo() { return shown.logo ?? mark; },
  show({ name, logo }: Brand) {
    if (name !== shown.name || logo !== shown.logo) shown = { name, logo };
    keptForAll.set(KEY, JSON.stringify(shown));
    document.querySelector('link[rel="icon"]')?.setAttribute('href', this.logo);
  },
};

/** The title of the page: what it shows, and the platform's name. */
export function titled(title: string): string { return brand.name ? `${title} · ${brand.name}` : title; }
