/** A thread that checks manifests once, and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { validateManifests } from './validate-manifests.ts'

parentPort?.postMessage(validateManifests(workerData as string))
