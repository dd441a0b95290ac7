// `node flamenco_stub.js SCRIPT JOB.json`: Flamenco 3's job compiler, as its manual and its built-in job types show it.
// Prints the job type, and the tasks that the job becomes, as JSON.
"use strict";
const fs = require("fs");
const vm = require("vm");

class Task {
    constructor(name, type) {
        if (!name || !type) throw new Error("author.Task(name, type): both are required");
        Object.assign(this, { name, type, commands: [], dependencies: [] });
    }
    addCommand(command) { this.commands.push(command); }
    addDependency(task) { this.dependencies.push(task); }
}

// Frames of "1-3, 7", sorted; a minus sign is always a range's.
function explode(range) {
    const frames = new Set();
    for (const part of range.replaceAll("..", "-").split(",")) {
        const ends = part.split("-").map((text) => parseInt(text.trim(), 10));
        if (ends.some(isNaN) || ends.length > 2) throw new Error(`invalid range ${part}`);
        for (let frame = ends[0]; frame <= ends[ends.length - 1]; frame++) frames.add(frame);
    }
    return [...frames].sort((a, b) => a - b);
}

function merge(frames) {
    const runs = [];
    for (const frame of frames) {
        const run = runs[runs.length - 1];
        if (run && run[1] === frame - 1) run[1] = frame;
        else runs.push([frame, frame]);
    }
    // Two frames are listed, not a range.
    return runs.map(([a, b]) => (a === b ? `${a}` : a + 1 === b ? `${a},${b}` : `${a}-${b}`)).join(",");
}

function frameChunker(range, size) {
    if (size < 1) throw new Error("invalid chunk size");
    const frames = explode(range), chunks = [];
    for (let k = 0; k < frames.length; k += size) chunks.push(merge(frames.slice(k, k + size)));
    return chunks;
}

const [script, file] = process.argv.slice(2);
const job = { created: "now", tasks: [], addTask(task) { this.tasks.push(task); }, ...JSON.parse(fs.readFileSync(file)) };
const path = require("path").posix;
const globals = {
    author: {
        Task: (name, type) => new Task(name, type),
        Command: (name, parameters) => ({ name, parameters }),
    },
    path: {
        basename: (p) => path.basename(p), dirname: path.dirname, join: path.join,
        stem: (p) => path.basename(p, path.extname(p)),
    },
    formatTimestampLocal: () => "2026-01-02_030405",
    frameChunker,
    print: () => {},
};
const context = vm.createContext(globals);
vm.runInContext(fs.readFileSync(script, "utf8") + "\n;globalThis.jobType = JOB_TYPE;", context);
context.compileJob(job);
const tasks = job.tasks.map((task) => ({ ...task, dependencies: task.dependencies.map((other) => other.name) }));
process.stdout.write(JSON.stringify({ jobType: context.jobType, settings: job.settings, tasks }));
