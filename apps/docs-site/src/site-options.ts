/** Options of one build of the site. */
export interface SiteOptions {
  /** Path below which the server serves this build, with a slash at both ends. */
  readonly base: string
  /** Folder for the built pages. */
  readonly outDir: string
  /** Name of the version in the menu: a minor version such as `0.1`, or `next`. */
  readonly version: string
  /**
   * Address of a folder or file of the repository, up to the path, such as `https://example.com/tranche/blob/main/`; null while the repository
   * has no public address. Links to files outside of docs are then plain text.
   */
  readonly repository: string | null
}

/** Environment variables by which scripts/build-site.ts hands its options to the configuration, which VitePress loads by itself. */
export const siteVariables = { base: 'SITE_BASE', outDir: 'SITE_OUT', version: 'SITE_VERSION', repository: 'SITE_REPOSITORY' } as const

/** Name of a file beside the pages that lists the files of libraries in them; scripts/site/build.ts replaces it by the licenses. */
export const moduleList = 'modules.json'

/** @returns the options of this build; without variables those of the development server */
export function readSiteOptions(env: Readonly<Record<string, string | undefined>>): SiteOptions {
  return {
    base: env[siteVariables.base] ?? '/next/',
    outDir: env[siteVariables.outDir] ?? 'dist/next',
    version: env[siteVariables.version] ?? 'next',
    repository: env[siteVariables.repository] || null,
  }
}
