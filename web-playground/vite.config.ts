// How the playground is built and, for those who work on it, served.
// Never: an address other than the Kith server's own.
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/',
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    // The code editor is one big chunk, and it is loaded after the page shows.
    chunkSizeWarningLimit: 4000,
    rollupOptions: {
      // Libraries mark files "use client" for servers that render React; here nothing does.
      onwarn: (warning, warn) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning),
    },
  },
  worker: { format: 'es' },
  server: { proxy: { '/graphql': { target: 'http://127.0.0.1:4000', ws: true } } },
});
