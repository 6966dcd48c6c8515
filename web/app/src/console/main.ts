import { mount } from 'svelte';
import { loadBranding } from '../api/branding';
import '../ui/base.css';
import Console from './Console.svelte';

void loadBranding();
mount(Console, { target: document.body });
