const browsers: [RegExp, string][] = [
  [/Edg\//, 'Edge'], [/OPR\//, 'Opera'], [/SamsungBrowser\//, 'Samsung Internet'], [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'], [/Safari\//, 'Safari'],
];
const systems: [RegExp, string][] = [
  [/iPhone/, 'iPhone'], [/iPad/, 'iPad'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/CrOS/, 'ChromeOS'],
  [/Mac OS X/, 'macOS'], [/Linux/, 'Linux'],
];

/** What people call the device of a User-Agent, such as Chrome · Linux; the header itself where it is no browser's. */
export function deviceOf(userAgent: string): string {
  const named = [browsers, systems].flatMap((all) => all.find(([sign]) => sign.test(userAgent))?.[1] ?? []);
  return named.length === 2 ? named.join(' · ') : userAgent;
}
