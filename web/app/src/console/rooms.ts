import ChartNoAxesColumn from '@lucide/svelte/icons/chart-no-axes-column';
import CreditCard from '@lucide/svelte/icons/credit-card';
import Repeat from '@lucide/svelte/icons/repeat';
import SettingsIcon from '@lucide/svelte/icons/settings';
import Users from '@lucide/svelte/icons/users';
import Webhook from '@lucide/svelte/icons/webhook';
import type { Component } from 'svelte';

export type RoomName = 'home' | 'customers' | 'subscriptions' | 'payments' | 'webhooks' | 'settings';

export interface Room {
  name: RoomName;
  path: string;
  key: string; // after g
  icon: Component;
  chief?: boolean; // has a place in the bar of a phone
  load: () => Promise<{ default: Component }>;
}

/** The rooms in the order of the navigation; each is a chunk of its own. */
export const rooms: Room[] = [
  { name: 'home', chief: true, path: '/', key: 'h', icon: ChartNoAxesColumn, load: () => import('./home/Home.svelte') },
  { name: 'customers', chief: true, path: '/customers', key: 'c', icon: Users, load: () => import('./customers/Customers.svelte') },
  {
    name: 'subscriptions', path: '/subscriptions', key: 's', icon: Repeat,
    load: () => import('./subscriptions/Subscriptions.svelte'),
  },
  { name: 'payments', chief: true, path: '/payments', key: 'p', icon: CreditCard, load: () => import('./payments/Payments.svelte') },
  { name: 'webhooks', path: '/webhooks', key: 'w', icon: Webhook, load: () => import('./webhooks/Webhooks.svelte') },
  { name: 'settings', path: '/settings', key: ',', icon: SettingsIcon, load: () => import('./settings/Settings.svelte') },
];

/** What is not in the navigation: it is reached by one's own name. */
const account = { path: '/account', load: () => import('./account/Account.svelte') };

/** The room that a path of the console leads to. */
export function roomOf(path: string): Pick<Room, 'path' | 'load'> | undefined {
  return [...rooms, account].find((room) => room.path === path || (room.path !== '/' && path.startsWith(`${room.path}/`)));
}
