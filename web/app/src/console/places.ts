import { session } from '../api/session.svelte';
import { language, m, type Locale } from './messages/index.svelte';
import { report } from './problems';
import { themes } from './theme.svelte';

// What the search leads to besides records and rooms: the parts of rooms, what can be made there, and what can be done
// anywhere.

interface Place { title: string; to: string; makes?: boolean }
interface Act { title: string; act: () => void; leaves?: boolean }

function places(): Place[] {
  const { settings, payments, subscriptions, catalog, events, promos, jobs, finance, imports, branding, account, explain } = m();
  const root = session.member?.root ?? false;
  return [
    { title: settings.newPlan, to: '/settings/plans?new=1', makes: true }, { title: settings.newUser, to: '/settings/users?new=1', makes: true },
    { title: catalog.newVideo, to: '/catalog?new=1', makes: true }, { title: events.newEvent, to: '/events?new=1', makes: true },
    { title: promos.newPromo, to: '/promos?new=promo', makes: true }, { title: promos.newTicket, to: '/promos?new=ticket', makes: true },
    ...(root ? [{ title: settings.newProfile, to: '/settings/profiles?new=1', makes: true }] : []),
    { title: subscriptions.overdue, to: '/subscriptions/overdue' },
    { title: payments.settled, to: '/payments/settled' }, { title: payments.refunds, to: '/payments/refunds' },
    { title: payments.openDisputes, to: '/payments/open-disputes' }, { title: payments.disputes, to: '/payments/disputes' },
    { title: payments.unapplied, to: '/payments/unapplied' }, { title: payments.runs, to: '/payments/reconciliations' },
    { title: catalog.categories, to: '/catalog/categories' }, { title: catalog.tags, to: '/catalog/tags' }, { title: catalog.seasons, to: '/catalog/seasons' },
    { title: imports.title, to: '/catalog/imports' }, { title: finance.exports, to: '/finance/exports' }, { title: finance.definitions, to: '/finance/definitions' },
    { title: branding.title, to: '/settings/branding' }, { title: settings.plans, to: '/settings/plans' }, { title: settings.users, to: '/settings/users' },
    { title: jobs.title, to: '/settings/jobs' }, { title: jobs.invariants, to: '/settings/invariants' }, { title: settings.audit, to: '/settings/audit' },
    ...(root ? [{ title: settings.profiles, to: '/settings/profiles' }, { title: explain.tab, to: '/settings/explain' }] : []),
    { title: account.title, to: '/account' },
  ];
}

function acts(help: () => void): Act[] {
  const { shell, search } = m();
  const languages: [Locale, string][] = [['en', 'English'], ['pt', 'Português']];
  return [
    ...(['light', 'dark', 'system'] as const).map((theme) => ({ title: search.themeOf(shell[theme]), act: () => { themes.use(theme); } })),
    ...languages.filter(([locale]) => locale !== language.locale).map(([locale, name]) => ({ title: name, act: () => { language.use(locale); } })),
    { title: shell.keyboard, act: help },
    { title: shell.signOut, leaves: true, act: () => { session.signOut().catch(report); } },
  ];
}

const plain = (text: string) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');

/** Whether what was typed begins a word of the title, without regard to case and accents. */
export function fits(typed: string, title: string): boolean {
  const words = plain(title);
  return words.startsWith(plain(typed)) || words.includes(` ${plain(typed)}`);
}

export function placesFor(typed: string): Place[] { return places().filter(({ title }) => fits(typed, title)); }

export function actsFor(typed: string, help: () => void): Act[] { return acts(help).filter(({ title }) => fits(typed, title)); }
