import { testScreens } from './screens';

testScreens('pt-BR', 'rooms');
