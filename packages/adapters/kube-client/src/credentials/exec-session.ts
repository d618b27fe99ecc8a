import type { Clock } from '@tranche/clock'
import { type ExecConfig, type PluginCredentials, runExecPlugin } from './exec-plugin.ts'
import type { ReadKubeConfig } from './read-kube-config.ts'

/** Caches the credentials of an exec plugin until they expire. */
export interface ExecSession {
  /**
   * Returns credentials. Concurrent callers share one run of the plugin. Failures are not cached.
   *
   * @param renew runs the plugin even if its last credentials have not expired
   * @throws {AppError} KUBECONFIG_INVALID
   */
  credentials(read: ReadKubeConfig, exec: ExecConfig, renew: boolean): Promise<PluginCredentials>
}

/** @returns a session without credentials */
export function createExecSession(clock: Clock): ExecSession {
  let kept: PluginCredentials | null = null
  let running: Promise<PluginCredentials> | null = null
  return {
    async credentials(read, exec, renew) {
      if (kept !== null && !renew && clock.nowMs() < kept.endsAtMs) return kept
      running ??= runExecPlugin(clock, read, exec).finally(() => (running = null))
      kept = await running
      return kept
    },
  }
}
