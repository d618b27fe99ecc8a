import { defineConfig } from 'vite'

export default defineConfig({
  // Absolute: the page has deep links, and its policy forbids `<base>`.
  base: '/dashboard/',
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
})
