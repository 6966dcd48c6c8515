export interface Toast { id: number; tone: 'good' | 'bad'; text: string; note?: string | undefined }

let list = $state<Toast[]>([]);
let last = 0;

export const toasts = {
  get list() { return list; },
  /** What went well leaves by itself; what failed stays until it is dismissed. */
  show(tone: Toast['tone'], text: string, note?: string) {
    const id = ++last;
    list = [...list.slice(-3), { id, tone, text, note }];
    if (tone === 'good') setTimeout(() => { toasts.dismiss(id); }, 5000);
  },
  dismiss(id: number) { list = list.filter((toast) => toast.id !== id); },
};
