/** esbuild takes styles in like scripts. */
declare module '*.css';
