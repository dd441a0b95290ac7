// Flamenco 3 job type: variants of a .blend, one task per row of a table of settings, then a table of results.
// Put it into the folder `scripts` beside flamenco-manager (make one), and press the refresh button beside the job
// type in Blender. Workers need Sinew installed in their Blender.

const JOB_TYPE = {
    label: "Sinew Wedge",
    description: "Bake variants of the .blend by a table of settings, and collect their results",
    settings: [
        // Settings of the artist.
        { key: "table", type: "string", subtype: "file_path", required: true,
          description: "Table of settings (CSV) on the shared storage, one variant per row" },
        { key: "rows", type: "string", required: true,
          description: "Rows to bake, such as 1-12. The row below the heading is 1" },
        { key: "output_folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder of the variants, the table of results and the contact sheet" },
        { key: "run_python", type: "bool", default: false, label: "Run Python in the File", visible: "submission",
          description: "Let drivers and scripts of the .blend run Python. Only for files that you trust" },

        // Settings read from the scene.
        { key: "blendfile", type: "string", required: true, visible: "web", description: "The .blend to vary" },
    ],
};

// A variant that Sinew refuses does not fail its task, so that the last task runs: it then fails, and names the variant.
function compileJob(job) {
    const settings = job.settings;
    const collect = wedgeTask("collect", settings, ["--collect"]);
    for (const row of frameChunker(settings.rows, 1)) {
        const bake = wedgeTask("bake-" + row, settings, ["--row", row, "--record-failures"]);
        collect.addDependency(bake);
        job.addTask(bake);
    }
    job.addTask(collect);
}

function wedgeTask(name, settings, args) {
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}", // --enable-autoexec by default; the last such option counts
        argsBefore: [settings.run_python ? "--enable-autoexec" : "--disable-autoexec"],
        blendfile: settings.blendfile,
        args: ["--command", "sinew", "wedge", settings.table, "--out", settings.output_folder, ...args],
    }));
    return task;
}
