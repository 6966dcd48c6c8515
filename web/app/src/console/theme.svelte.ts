import { keptForAll } from '../ui/storage';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';
const kept = keptForAll.get(KEY);
let theme = $state<Theme>(kept === 'light' || kept === 'dark' ? kept : 'system');

function show() {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

show();

export const themes = {
  get theme() { return theme; },
  use(chosen: Theme) {
    theme = chosen;
    keptForAll.set(KEY, chosen);
    show();
  },
};
