import ChartNoAxesColumn from '@lucide/svelte/icons/chart-no-axes-column';
import Clapperboard from '@lucide/svelte/icons/clapperboard';
import CreditCard from '@lucide/svelte/icons/credit-card';
import KanbanSquare from '@lucide/svelte/icons/square-kanban';
import Landmark from '@lucide/svelte/icons/landmark';
import Repeat from '@lucide/svelte/icons/repeat';
import SettingsIcon from '@lucide/svelte/icons/settings';
import TicketIcon from '@lucide/svelte/icons/ticket';
import TicketPercent from '@lucide/svelte/icons/ticket-percent';
import Users from '@lucide/svelte/icons/users';
import Webhook from '@lucide/svelte/icons/webhook';
import type { Component } from 'svelte';
import { rights } from '../api/rights.svelte';

export type RoomName = 'home' | 'customers' | 'subscriptions' | 'payments' | 'webhooks' | 'catalog' | 'events' | 'promos' | 'finance' | 'board' | 'settings';

export interface Room {
  name: RoomName;
  path: string;
  key: string; // after g
  icon: Component;
  chief?: boolean; // has a place in the bar of a phone
  right?: string; // without which there is nothing to see
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
  { name: 'catalog', path: '/catalog', key: 'v', icon: Clapperboard, load: () => import('./catalog/Catalog.svelte') },
  { name: 'events', path: '/events', key: 'e', icon: TicketIcon, load: () => import('./events/Events.svelte') },
  { name: 'promos', path: '/promos', key: 'o', icon: TicketPercent, load: () => import('./promos/Promos.svelte') },
  { name: 'finance', path: '/finance', key: 'f', icon: Landmark, load: () => import('./finance/Finance.svelte') },
  { name: 'board', path: '/board', key: 'b', icon: KanbanSquare, right: 'requisition_get', load: () => import('./board/Board.svelte') },
  { name: 'settings', path: '/settings', key: ',', icon: SettingsIcon, load: () => import('./settings/Settings.svelte') },
];

/** Those that have something to show to who is signed in. */
export function openRooms(): Room[] { return rooms.filter(({ right }) => !right || rights.may(right)); }

/** What is not in the navigation: it is reached by one's own name. */
const account = { path: '/account', load: () => import('./account/Account.svelte') };

/** The room that a path of the console leads to. */
export function roomOf(path: string): Pick<Room, 'path' | 'load'> | undefined {
  return [...rooms, account].find((room) => room.path === path || (room.path !== '/' && path.startsWith(`${room.path}/`)));
}
