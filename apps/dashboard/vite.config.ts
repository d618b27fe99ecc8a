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
      treeshake: { moduleSideEffects: (id) => !/\/packages\/[^/]+\/[^/]+\/src\//.test(id), manualPureFunctions: ['z'] },
    },
  },
})
