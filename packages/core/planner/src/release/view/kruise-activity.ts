/** OpenKruise's controller for native DaemonSets, active on the cluster as this process sees it. */
export interface KruiseActivity {
  /** Namespace and name of the Lease that it renews. */
  readonly lease: string
  /** Identity of the Lease's holder. */
  readonly holder: string
  /** How long (ms) it still counts as active without another sign of it. */
  readonly activeForMs: number
}

/** Names the active controller and the fix. */
export function kruiseActiveText({ lease, holder }: KruiseActivity): string {
  return `${holder} renews the Lease ${lease} and rolls out DaemonSets here as well: stop it, or remove its webhook for DaemonSets; nothing is released until then`
}
