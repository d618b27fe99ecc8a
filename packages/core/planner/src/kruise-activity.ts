/** Another controller of native DaemonSets that is active on the cluster, as this process sees it. */
export interface KruiseActivity {
  /** Namespace and name of the Lease that it renews. */
  readonly lease: string
  /** Who holds the Lease. */
  readonly holder: string
  /** For how long (ms) it counts as active although nothing more is heard of it. */
  readonly activeForMs: number
}

/** Says what is active, and what to do. */
export function kruiseActiveText({ lease, holder }: KruiseActivity): string {
  return `${holder} renews the Lease ${lease} and rolls out DaemonSets here as well: stop it, or remove its webhook for DaemonSets; nothing is released until then`
}
