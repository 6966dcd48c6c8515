import { mount } from 'svelte';
import '../ui/base.css';
import Console from './Console.svelte';

mount(Console, { target: document.body });
