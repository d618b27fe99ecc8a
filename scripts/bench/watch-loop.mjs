/**
 * Loaded before a program that a bench measures: answers each message of its parent with how late the event loop was since the last one,
 * and how long collecting garbage took.
 */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'

const late = monitorEventLoopDelay({ resolution: 1 })
late.enable()
let longestCollectionMs = 0
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestCollectionMs = Math.max(longestCollectionMs, duration)
}).observe({ entryTypes: ['gc'] })

process.on('message', () => {
  process.send?.({ loopP99Ms: late.percentile(99) / 1e6, loopMaxMs: late.max / 1e6, longestCollectionMs })
  late.reset()
  longestCollectionMs = 0
})
process.channel?.unref()
