/** Puts a text on the clipboard. It throws where the browser does not allow that. */
export function copyText(text: string): Promise<void> { return navigator.clipboard.writeText(text); }
