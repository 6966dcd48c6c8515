import { keptForAll } from '../../ui/storage';
import { en } from './en';
import { pt } from './pt';

export type Locale = 'en' | 'pt';

const messages = { en, pt };
const KEY = 'language';

const kept = keptForAll.get(KEY);
const preferred: Locale = navigator.languages.find((l) => /^(pt|en)/.test(l))?.startsWith('pt') ? 'pt' : 'en';
let locale = $state<Locale>(kept === 'en' || kept === 'pt' ? kept : preferred);

export const language = {
  get locale() { return locale; },
  get tag() { return locale === 'pt' ? 'pt-BR' : 'en-GB'; },
  use(chosen: Locale) {
    locale = chosen;
    keptForAll.set(KEY, chosen);
    document.documentElement.lang = this.tag;
  },
};

document.documentElement.lang = language.tag;

/** The messages of the language that is chosen; read inside a component, so that it follows. */
export function m(): typeof en { return messages[locale] as typeof en; }

/** The word for a value of an enum; the value itself where there is none. */
export function word(value: string): string {
  return (m().words as Record<string, string>)[value] ?? value;
}

/** The label of a field of the API. */
export function fieldLabel(name: string): string {
  const known = (m().fields as Record<string, string>)[name];
  return known ?? name.replace(/^_/, '').replaceAll('_', ' ').replace(/^./, (c) => c.toUpperCase());
}
