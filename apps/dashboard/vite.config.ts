import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  base: '/dashboard/',
  plugins: [react()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    rolldownOptions: {
      // Runs before every other chunk: schemas look for its setting when they are loaded.
      output: { codeSplitting: { groups: [{ name: 'without-eval', test: /without-eval/ }] } },
      treeshake: { moduleSideEffects: (id) => !/\/packages\/[^/]+\/[^/]+\/src\//.test(id), manualPureFunctions: ['z'] },
    },
  },
})
