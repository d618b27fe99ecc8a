import manifest from '../../package.json' with { type: 'json' }

/** @returns `tranche 0.1.0 (Node.js 24.21.0)` */
export function versionText(): string {
  return `tranche ${manifest.version} (Node.js ${process.versions.node})`
}

/** @returns the user agent of a program: `tranche-controller/0.1.0` */
export function userAgent(program: string): string {
  return `${program}/${manifest.version}`
}

/** `0.1.0`. */
export const VERSION = manifest.version
