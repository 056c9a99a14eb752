/** Where this service is, whatever prefix a proxy has put before it: every script lies in `<prefix>/console/assets/`. */
const console_ = new URL('../', import.meta.url);

/** The path of the console without its last slash, such as `/console`. */
export const CONSOLE_PATH = console_.pathname.replace(/\/$/, '');

/** The url of a path of the service, such as `api/webhooks`. */
export const urlOf = (path: string): string => new URL(`../${path}`, console_).href;
