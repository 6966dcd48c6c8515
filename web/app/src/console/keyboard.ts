import { openRooms } from './rooms';

const DIALOG = '[role="dialog"][data-state="open"]';

interface Acts { search: () => void; help: () => void; go: (path: string) => void }

/** The keys of the console: / or Ctrl+K searches, ? helps, g and a letter goes to a room. Under a dialog none does. */
export function keyboard({ search, help, go }: Acts): (event: KeyboardEvent) => void {
  let leading = false; // g was pressed
  return (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
      event.preventDefault();
      if (!document.querySelector(DIALOG)) search();
      return;
    }
    const typing = (event.target as Element).closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]');
    if (typing || document.querySelector(DIALOG) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (leading) {
      leading = false;
      const room = openRooms().find(({ key }) => key === event.key);
      if (room) go(room.path);
      return;
    }
    if (event.key === '/') {
      event.preventDefault();
      search();
    } else if (event.key === '?') help();
    else leading = event.key === 'g';
  };
}
