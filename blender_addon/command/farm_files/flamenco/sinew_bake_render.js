// Flamenco 3 job type: a bake by Sinew, then chunks of frames of the baked .blend, which need no Sinew.
// Put it into the folder `scripts` beside flamenco-manager (make one), and press the refresh button beside the job
// type in Blender. Workers that bake need Sinew installed in their Blender.

const JOB_TYPE = {
    label: "Sinew Bake and Render",
    description: "Bake the elastic bodies into a copy of the .blend, then render that copy",
    settings: [
        // Settings of the artist.
        { key: "frames", type: "string", required: true,
          eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
          evalInfo: { showLinkButton: true, description: "Scene frame range" },
          description: "Frames to render, such as 1-250 or 1-99, 120-250. The frames to bake are set on the bodies" },
        { key: "chunk_size", type: "int32", default: 10, propargs: { min: 1 }, visible: "submission",
          description: "Frames that one Blender renders, one after the other" },
        { key: "run_python", type: "bool", default: false, label: "Run Python in the File", visible: "submission",
          description: "Let drivers and scripts of the .blend run Python. Only for files that you trust" },
        { key: "render_output_root", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder of renders; each job gets a folder with its name and date in it" },
        { key: "add_path_components", type: "int32", required: true, default: 0, propargs: { min: 0, max: 32 },
          visible: "submission",
          description: "Number of folders above the .blend that are repeated in the output path" },
        { key: "render_output_path", type: "string", subtype: "file_path", editable: false,
          eval: "str(Path(abspath(settings.render_output_root), last_n_dir_parts(settings.add_path_components), jobname, '{timestamp}', '######'))",
          description: "Path of the images" },

        // Settings read from the scene.
        { key: "blendfile", type: "string", required: true, visible: "web", description: "The .blend to bake" },
        { key: "format", type: "string", required: true, visible: "web",
          eval: "C.scene.render.image_settings.file_format" },
    ],
};

const FILMS = ["FFMPEG", "AVI_RAW", "AVI_JPEG"];

function compileJob(job) {
    const settings = job.settings;
    if (FILMS.includes(settings.format)) {
        throw "Frames rendered by several workers make no film: choose an image format instead of " + settings.format;
    }
    if (!settings.render_output_path) {
        throw "The job has no render_output_path";
    }
    // Flamenco shows this path with the job.
    settings.render_output_path = settings.render_output_path.replace("{timestamp}", formatTimestampLocal(job.created));

    const baked = bakedFile(settings.blendfile);
    const bake = bakeTask(settings, baked);
    job.addTask(bake);
    for (const chunk of frameChunker(settings.frames, settings.chunk_size)) {
        const render = renderTask(settings, baked, chunk);
        render.addDependency(bake);
        job.addTask(render);
    }
}

// The baked copy lies beside the submitted .blend, so that relative paths hold; the submitted file is not changed.
function bakedFile(blendfile) {
    const stem = path.stem(blendfile).replace(".flamenco", "");
    return path.join(path.dirname(blendfile), stem + ".baked.blend");
}

function bakeTask(settings, baked) {
    const task = author.Task("bake", "blender");
    task.addCommand(blender(settings, settings.blendfile, [
        "--command", "sinew", "bake", "--update", "--output", baked,
    ]));
    return task;
}

function renderTask(settings, baked, chunk) {
    const task = author.Task("render-" + chunk, "blender");
    task.addCommand(blender(settings, baked, [
        "--render-output", settings.render_output_path,
        "--render-format", settings.format,
        "--render-frame", chunk.replaceAll("-", ".."), // Blender's own notation of a range
    ]));
    return task;
}

function blender(settings, blendfile, args) {
    return author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}", // --enable-autoexec by default; the last such option counts
        argsBefore: [settings.run_python ? "--enable-autoexec" : "--disable-autoexec"],
        blendfile: blendfile,
        args: args,
    });
}
