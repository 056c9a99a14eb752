const REGIONS = ['us', 'eu', 'in', 'ca', 'au'];

/** Returns the server of Svix for an API key, as Svix's own client finds it: a key names its region after its first dot. */
export function serverOfKey(key: string): string {
  const region = key.split('.')[1] ?? '';
  return REGIONS.includes(region) ? `https://api.${region}.svix.com` : 'https://api.svix.com';
}
