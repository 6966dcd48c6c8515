import { brand } from '../ui/brand.svelte';
import { answerOf } from './raw';

export interface Branding { name: string; accent_light: string; accent_dark: string; logo: string | null; register_update_date: string }

/** Reads what the platform is called and looks like, and shows it; where it cannot be read all stays as it was. */
export async function loadBranding(): Promise<void> {
  try { brand.show(await answerOf<Branding>('/api/v1/config/branding')); } catch { if (!brand.name) brand.show({ name: 'Marquee', logo: null }); }
}

/** Shows a branding that was changed here, its accents too, whose style sheet the page has already. */
export function showBranding(now: Branding) {
  brand.show(now);
  const old = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"][href^="/api/v1/config/branding.css"]');
  if (!old) return;
  const next = old.cloneNode() as HTMLLinkElement;
  next.href = `/api/v1/config/branding.css?at=${encodeURIComponent(now.register_update_date)}`;
  next.addEventListener('load', () => { old.remove(); });
  old.after(next);
}
