/** The documentation as a website. Its pages are those of docs; this package has the configuration and the theme of VitePress. */
export { castOf, isCast, readCast, writeCast, type Cast, type CastFrame } from './cast/cast.ts'
export { anchor } from './pages/anchor.ts'
export { siteTargetOf } from './pages/links.ts'
export { readNavigation, type NavigationGroup } from './pages/navigation.ts'
export { createSiteConfig } from './site-config.ts'
export { readSiteOptions, type SiteOptions } from './site-options.ts'
