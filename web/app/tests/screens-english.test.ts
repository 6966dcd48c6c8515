import { testScreens } from './screens';

testScreens('en-GB', 'people');
