import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import { CastPlayer } from './cast-player.ts'
import { SiteDiagram } from './site-diagram.ts'
import './site.css'
import { VersionMenu } from './version-menu.ts'

/** The default theme with the fonts of the system, a menu of versions, a player for recordings, and diagrams. */
export const siteTheme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'nav-bar-content-after': () => h(VersionMenu), 'sidebar-nav-before': () => h(VersionMenu) }),
  enhanceApp({ app }) {
    app.component('CastPlayer', CastPlayer)
    app.component('SiteDiagram', SiteDiagram)
  },
}
