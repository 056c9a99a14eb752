/** True in builds for the console's developers: `node console/build.mjs --development`. */
declare const DEVELOPMENT: boolean;
